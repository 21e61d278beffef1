import { textOfValue } from '@playhead/model'
import { useMemo, useState } from 'react'
import { CopyButton } from '../controls/copy-button.tsx'
import { isBranch, readJsonText } from './json-path.ts'
import { JsonTree, type JsonNote } from './json-tree.tsx'
import { LongText } from './long-text.tsx'
import { Markdown } from './markdown.tsx'
import './value-view.css'

/** Longer text is not prose, and rendering it as markdown takes too long. */
const LONGEST_MARKDOWN = 20_000

/** Any recorded value: JSON as a tree, prose as markdown, other text as it is. */
export function ValueView({
  value,
  note,
  isProse = false,
}: {
  value: unknown
  note?: JsonNote
  isProse?: boolean
}) {
  const [isRaw, setIsRaw] = useState(false)
  const read = useMemo(() => readJsonText(value), [value])
  const hasRawView =
    isBranch(read) || (isProse && typeof read === 'string' && read.length <= LONGEST_MARKDOWN)
  return (
    <div className="value-view">
      <div className="value-tools">
        {hasRawView && (
          <button type="button" aria-pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
            Raw
          </button>
        )}
        <CopyButton label="Copy value" read={() => textOfValue(value)} />
      </div>
      {drawValue({ value, read, isRaw, isProse, note })}
    </div>
  )
}

type Drawn = { value: unknown; read: unknown; isRaw: boolean; isProse: boolean; note: JsonNote | undefined }

function drawValue({ value, read, isRaw, isProse, note }: Drawn) {
  if (isRaw) return <LongText text={textOfValue(value)} limit={8_000} className="mono" />
  if (isBranch(read)) return <JsonTree value={read} {...(note !== undefined && { note })} />
  if (typeof read !== 'string') return <JsonTree value={read} />
  if (read === '') return <span className="dim">Empty string</span>
  if (isProse && read.length <= LONGEST_MARKDOWN) return <Markdown text={read} />
  return <LongText text={read} limit={4_000} className={isProse ? '' : 'mono'} />
}
