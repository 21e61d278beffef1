import { useMemo, useState } from 'react'
import { countOf, textOfValue, visibleText, type Step } from '@playhead/model'
import { CopyButton } from '../../ui/controls/copy-button.tsx'
import { isBranch, readJsonText } from '../../ui/data/json-path.ts'
import { JsonTree } from '../../ui/data/json-tree.tsx'
import { LongText } from '../../ui/data/long-text.tsx'
import { SearchInput } from '../../ui/controls/search-input.tsx'
import './attributes-tab.css'

const MAX_SHOWN = 200

/** The span attributes as they arrived. */
export function AttributesTab({ step }: { step: Step }) {
  const [filter, setFilter] = useState('')
  const entries = useMemo(() => Object.entries(step.attributes ?? {}).sort(byName), [step.attributes])
  const wanted = filter.trim().toLowerCase()
  const shown = entries.filter(([name, value]) => wanted === '' || matches(name, value, wanted))
  return (
    <div className="detail-section">
      <div className="attributes-bar">
        <SearchInput label="Filter attributes" value={filter} onChange={setFilter} />
        <span className="dim" role="status">
          {wanted === '' ? countOf(entries.length, 'attribute') : `${shown.length} of ${entries.length}`} ·
          dialect {visibleText(step.dialect)}
        </span>
      </div>
      <dl className="attributes">
        {shown.slice(0, MAX_SHOWN).map(([name, value]) => (
          <div key={name}>
            <dt>{breakable(visibleText(name))}</dt>
            <dd>
              <AttributeValueView value={value} />
              <CopyButton label={`Copy ${name}`} read={() => textOfValue(value)} />
            </dd>
          </div>
        ))}
      </dl>
      {shown.length > MAX_SHOWN && (
        <p className="dim">{shown.length - MAX_SHOWN} more. Filter the list, or open the Raw tab.</p>
      )}
    </div>
  )
}

/** Lets long names wrap between words. */
function breakable(name: string): string {
  return name.replaceAll(/(?<=[._])(?=\w)/g, '\u200B')
}

function byName([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : left > right ? 1 : 0
}

function matches(name: string, value: unknown, wanted: string): boolean {
  if (name.toLowerCase().includes(wanted)) return true
  const text = typeof value === 'string' ? value : textOfValue(value)
  return text.slice(0, 100_000).toLowerCase().includes(wanted)
}

function AttributeValueView({ value }: { value: unknown }) {
  const read = readJsonText(value)
  if (isBranch(read)) return <JsonTree value={read} />
  return <LongText text={textOfValue(read)} limit={400} className="mono" />
}
