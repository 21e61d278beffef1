import { useMemo, useState } from 'react'
import { diffWords, visibleLines, type WordDifference } from '@playhead/model'
import './text-diff.css'

/** Longer runs of equal text are collapsed. */
const FOLDED_FROM = 700
const KEPT_AT_ENDS = 160
const LONGEST_DIFFED = 400_000

type TextDiffProps = { title: string; a: string | undefined; b: string | undefined }

/** Two texts side by side with the differing words marked; equal texts are shown once. */
export function TextDiff({ title, a, b }: TextDiffProps) {
  const pieces = useMemo(
    () =>
      a === undefined || b === undefined || a === b || a.length + b.length > LONGEST_DIFFED
        ? undefined
        : diffWords(a, b),
    [a, b],
  )
  if ((a ?? '') === '' && (b ?? '') === '') return null
  if (a === b)
    return (
      <section className="text-diff">
        <h3>
          {title} <span className="dim">identical</span>
        </h3>
        <Pieces pieces={[{ kind: 'same', text: a! }]} side="a" />
      </section>
    )
  const sides = { a: pieces ?? wholePieces('a', a), b: pieces ?? wholePieces('b', b) }
  return (
    <section className="text-diff">
      <h3>{title}</h3>
      <div className="text-diff-sides">
        {(['a', 'b'] as const).map((side) => (
          <div key={side} className={`text-diff-side is-${side}`}>
            <span className="compare-side">{side.toUpperCase()}</span>
            {sides[side].length === 0 ? (
              <span className="dim">empty</span>
            ) : (
              <Pieces pieces={sides[side]} side={side} />
            )}
          </div>
        ))}
      </div>
    </section>
  )
}

function wholePieces(side: 'a' | 'b', text: string | undefined): WordDifference[] {
  return text === undefined || text === '' ? [] : [{ kind: side, text }]
}

function Pieces({ pieces, side }: { pieces: readonly WordDifference[]; side: 'a' | 'b' }) {
  const own = pieces.filter(({ kind }) => kind === 'same' || kind === side)
  return (
    <pre className="text-diff-text">
      {own.map((piece, index) =>
        piece.kind === 'same' ? (
          <SameText key={index} text={piece.text} isFirst={index === 0} isLast={index === own.length - 1} />
        ) : piece.kind === 'a' ? (
          <del key={index}>{visibleLines(piece.text)}</del>
        ) : (
          <ins key={index}>{visibleLines(piece.text)}</ins>
        ),
      )}
    </pre>
  )
}

function SameText({ text, isFirst, isLast }: { text: string; isFirst: boolean; isLast: boolean }) {
  const [isOpen, setIsOpen] = useState(false)
  if (isOpen || text.length < FOLDED_FROM) return <span>{visibleLines(text)}</span>
  const isAlone = isFirst && isLast
  const head = isFirst && !isAlone ? '' : text.slice(0, isAlone ? 2 * KEPT_AT_ENDS : KEPT_AT_ENDS)
  const tail = isLast ? '' : text.slice(-KEPT_AT_ENDS)
  const folded = text.length - head.length - tail.length
  return (
    <span>
      {visibleLines(head)}
      <button type="button" className="text-diff-fold" onClick={() => setIsOpen(true)}>
        {folded.toLocaleString('en')} identical characters
      </button>
      {visibleLines(tail)}
    </span>
  )
}
