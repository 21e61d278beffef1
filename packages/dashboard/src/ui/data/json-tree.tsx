import { Check, ChevronRight, Copy, Link } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { describeValue, textOfValue, visibleLines } from '@playhead/model'
import { copyText } from '../browser/copy-text.ts'
import { describeSize, entriesOf, isBranch, joinPath } from './json-path.ts'
import { LongText } from './long-text.tsx'
import './json-tree.css'

const CHILDREN_AT_ONCE = 100
const STRING_SHOWN = 400
/** With more siblings than this, children start collapsed. */
const FEW_SIBLINGS = 20

export type JsonNote = (path: string) => ReactNode

/** A collapsible tree of any value, with the path to each part; large parts are shown in portions. */
export function JsonTree({ value, note }: { value: unknown; note?: JsonNote }) {
  return (
    <div className="json-tree">
      {isBranch(value) ? (
        <JsonChildren value={value} path="" depth={0} note={note} />
      ) : (
        <JsonLeaf value={value} />
      )}
    </div>
  )
}

type NodeProps = { path: string; depth: number; note: JsonNote | undefined }

function JsonChildren({ value, path, depth, note }: NodeProps & { value: object }) {
  const [count, setCount] = useState(CHILDREN_AT_ONCE)
  const entries = entriesOf(value)
  const left = entries.length - count
  if (entries.length === 0)
    return <span className="json-size">{Array.isArray(value) ? '[] empty' : '{} empty'}</span>
  return (
    <ul className="json-children">
      {entries.slice(0, count).map(({ key, value: child }) => (
        <JsonEntryRow
          key={key}
          name={key}
          value={child}
          path={joinPath(path, key)}
          depth={depth}
          note={note}
          isCrowded={entries.length > FEW_SIBLINGS}
        />
      ))}
      {left > 0 && (
        <li>
          <button
            type="button"
            className="long-text-more"
            onClick={() => setCount(count + 10 * CHILDREN_AT_ONCE)}
          >
            show {Math.min(left, 10 * CHILDREN_AT_ONCE).toLocaleString('en-US')} more of{' '}
            {left.toLocaleString('en-US')}
          </button>
        </li>
      )}
    </ul>
  )
}

type EntryProps = NodeProps & { name: string | number; value: unknown; isCrowded: boolean }

function JsonEntryRow({ name, value, path, depth, note, isCrowded }: EntryProps) {
  const isFoldable = isBranch(value) && Object.keys(value).length > 0
  const [isOpen, setIsOpen] = useState(isFoldable && !isCrowded && isOpenAtFirst(value, depth))
  // Only the active line has buttons; a large value has thousands of lines.
  const [isActive, setIsActive] = useState(false)
  const onName = () => (isFoldable ? setIsOpen(!isOpen) : void copyText(textOfValue(value)))
  return (
    <li className="json-entry">
      <div
        className="json-line"
        onPointerEnter={() => setIsActive(true)}
        onPointerLeave={() => setIsActive(false)}
        onFocus={() => setIsActive(true)}
        onBlur={(event) => setIsActive(event.currentTarget.contains(event.relatedTarget))}
      >
        <button
          type="button"
          className={isFoldable ? 'json-fold' : 'json-name'}
          title={isFoldable ? undefined : 'Copy value'}
          aria-expanded={isFoldable ? isOpen : undefined}
          onClick={onName}
        >
          {isFoldable && <ChevronRight size={12} aria-hidden="true" />}
          <span className="json-key">{visibleLines(String(name)).slice(0, 200)}</span>
        </button>
        <JsonValue value={value} isOpen={isOpen} />
        {note?.(path)}
        {isActive && <JsonActions path={path} value={value} />}
      </div>
      {isFoldable && isOpen && <JsonChildren value={value} path={path} depth={depth + 1} note={note} />}
    </li>
  )
}

function isOpenAtFirst(value: object, depth: number): boolean {
  return depth < 2 && Object.keys(value).length <= FEW_SIBLINGS
}

function JsonValue({ value, isOpen }: { value: unknown; isOpen: boolean }) {
  if (!isBranch(value)) return <JsonLeaf value={value} />
  if (Object.keys(value).length === 0)
    return <span className="json-size">{Array.isArray(value) ? '[]' : '{}'}</span>
  if (isOpen) return <span className="json-size">{describeSize(value)}</span>
  return <span className="json-preview">{describeValue(value, 120)}</span>
}

function JsonLeaf({ value }: { value: unknown }) {
  if (typeof value === 'string')
    return value === '' ? (
      <span className="json-size">empty text</span>
    ) : (
      <LongText text={value} limit={STRING_SHOWN} className="json-text" />
    )
  const look = value === null || value === undefined ? 'null' : typeof value
  return <span className={`json-${look}`}>{String(value)}</span>
}

function JsonActions({ path, value }: { path: string; value: unknown }) {
  const [copied, setCopied] = useState<'path' | 'value' | undefined>()
  const copy = (what: 'path' | 'value') =>
    void copyText(what === 'path' ? path : textOfValue(value)).then(() => setCopied(what))
  return (
    <span className="json-actions">
      <button
        type="button"
        title={`Copy path: ${path}`}
        aria-label={`Copy path ${path}`}
        onClick={() => copy('path')}
      >
        {copied === 'path' ? <Check size={12} aria-hidden="true" /> : <Link size={12} aria-hidden="true" />}
      </button>
      <button
        type="button"
        title="Copy value"
        aria-label={`Copy value of ${path}`}
        onClick={() => copy('value')}
      >
        {copied === 'value' ? <Check size={12} aria-hidden="true" /> : <Copy size={12} aria-hidden="true" />}
      </button>
    </span>
  )
}
