import { useState } from 'react'
import { visibleText, type StepError } from '@playhead/model'
import { LongText } from '../../ui/data/long-text.tsx'
import { parseStack, withShortPath, type StackFrame } from './stack-trace.ts'
import './error-box.css'

/** An error with its stack trace and its causes. Frames of the user's own code come first. */
export function ErrorBox({
  error,
  frames = 4,
  depth = 0,
}: {
  error: StepError
  frames?: number
  depth?: number
}) {
  return (
    <div className={`error-box${depth > 0 ? ' is-cause' : ''}`}>
      <div className="error-box-message">
        {depth > 0 && <span className="dim">Caused by </span>}
        <b>{visibleText(error.type)}</b>
        {error.message !== '' && (
          <>
            : <LongText text={error.message} limit={1_500} className="error-box-text" />
          </>
        )}
      </div>
      {error.stack !== undefined && <StackView stack={error.stack} most={frames} />}
      {error.cause !== undefined && depth < 6 && (
        <ErrorBox error={error.cause} frames={frames} depth={depth + 1} />
      )}
    </div>
  )
}

function StackView({ stack, most }: { stack: string; most: number }) {
  const [isOpen, setIsOpen] = useState(false)
  const { own, library, isParsed } = parseStack(stack)
  if (!isParsed) return <LongText text={stack} limit={1_500} className="error-box-stack mono" />
  const shownOwn = own.length === 0 ? library.slice(0, most) : own.slice(0, isOpen ? own.length : most)
  const shownLibrary = own.length === 0 ? library.slice(most) : library
  const foldedCount = own.length + library.length - shownOwn.length
  return (
    <div className="error-box-stack mono">
      <Frames frames={shownOwn} />
      {foldedCount > 0 && (
        <button
          type="button"
          className="long-text-more"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? 'Hide' : 'Show'}{' '}
          {foldedLabel(foldedCount, shownLibrary.length === foldedCount && own.length > 0)}
        </button>
      )}
      {isOpen && <Frames frames={shownLibrary} />}
    </div>
  )
}

function foldedLabel(count: number, areAllLibrary: boolean): string {
  return `${count} ${areAllLibrary ? 'library' : 'more'} ${count === 1 ? 'frame' : 'frames'}`
}

function Frames({ frames }: { frames: readonly StackFrame[] }) {
  return frames.map((frame, index) => (
    <div
      key={index}
      className={frame.isLibrary ? 'error-box-frame is-library' : 'error-box-frame'}
      title={visibleText(frame.text)}
    >
      {visibleText(withShortPath(frame.text))}
      {frame.source !== undefined && <div className="error-box-source">{visibleText(frame.source)}</div>}
    </div>
  ))
}
