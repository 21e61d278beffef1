import { measures, ruleKinds, visibleText } from '@playhead/model'
import { useDeferredValue, useState, type ReactNode } from 'react'
import { useDestinations } from '../../api/alerts.ts'
import { useMonitorPreview, type NewMonitor } from '../../api/monitors.ts'
import { Button } from '../../ui/controls/button.tsx'
import { PreviewChart } from './preview-chart.tsx'
import {
  kinds,
  limitExamples,
  measureNames,
  ruleNames,
  suggestName,
  toMonitor,
  type DraftKind,
  type MonitorDraft,
} from './monitor-draft.ts'

type Change = (change: Partial<MonitorDraft>) => void
type BlanksProps = { draft: MonitorDraft; change: Change }

const kindWords: Record<DraftKind, string> = {
  rate: 'a figure',
  rule: 'a rule for every session',
  silence: 'silence',
  issue: 'issues',
}

type MonitorFormProps = {
  initial: MonitorDraft
  action: string
  isWorking: boolean
  error: Error | null
  onSubmit: (monitor: NewMonitor, draft: MonitorDraft) => void
  children?: ReactNode
}

/** A monitor, new or saved, as a sentence with blanks, and when it would have fired. */
export function MonitorForm({ initial, action, isWorking, error, onSubmit, children }: MonitorFormProps) {
  const [draft, setDraft] = useState(initial)
  const change: Change = (part) => setDraft((before) => ({ ...before, ...part }))
  const read = toMonitor(draft)
  const monitor = 'monitor' in read ? read.monitor : undefined
  const preview = useMonitorPreview(useDeferredValue(monitor))
  return (
    <form
      className="monitor-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (monitor !== undefined) onSubmit(monitor, draft)
      }}
    >
      <Sentence draft={draft} change={change} />
      <Tells draft={draft} change={change} />
      <p className="monitor-sentence">
        Call it{' '}
        <Blank
          label="Name"
          value={draft.name}
          width={30}
          placeholder={suggestName(draft)}
          onChange={(name) => change({ name })}
        />
        <Button type="submit" look="accent" disabled={monitor === undefined || isWorking}>
          {action}
        </Button>
        {children}
      </p>
      {'problem' in read && (
        <p className="dim" role="status">
          {read.problem}
        </p>
      )}
      {error !== null && (
        <p className="dialog-error" role="alert">
          {error.message}
        </p>
      )}
      {monitor !== undefined && <PreviewChart preview={preview.data} error={preview.error} />}
    </form>
  )
}

function Sentence({ draft, change }: BlanksProps) {
  return (
    <p className="monitor-sentence">
      Watch{' '}
      <Choice
        label="What to watch"
        value={draft.kind}
        options={kinds.map((kind) => [kind, kindWords[kind]])}
        onChange={(kind) => change({ kind })}
      />
      : fire when <Blanks draft={draft} change={change} />
      {draft.kind === 'issue' || (
        <>
          , of the sessions{' '}
          <Blank
            label="Filter"
            value={draft.filter}
            width={22}
            placeholder="all, or tag:support"
            onChange={(filter) => change({ filter })}
          />
        </>
      )}
      , for at least{' '}
      <Blank label="How long" value={draft.wait} width={6} onChange={(wait) => change({ wait })} />.
    </p>
  )
}

/** Whom it tells when it fires. */
function Tells({ draft, change }: BlanksProps) {
  const { data: destinations = [] } = useDestinations()
  if (destinations.length === 0) return null
  const { tells, destinations: chosen } = draft
  return (
    <div className="monitor-sentence">
      Tell{' '}
      <Choice
        label="Whom it tells"
        value={tells}
        options={[
          ['all', 'all destinations'],
          ['some', 'only'],
          ['nobody', 'nobody'],
        ]}
        onChange={(next) => change({ tells: next })}
      />
      {tells === 'some' && (
        <span className="monitor-destinations">
          {destinations.map(({ id, name }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={chosen.includes(id)}
                onChange={({ target }) =>
                  change({
                    destinations: target.checked ? [...chosen, id] : chosen.filter((other) => other !== id),
                  })
                }
              />{' '}
              {visibleText(name)}
            </label>
          ))}
        </span>
      )}
    </div>
  )
}

function Blanks({ draft, change }: BlanksProps): ReactNode {
  const window = (
    <Blank label="Window" value={draft.window} width={6} onChange={(text) => change({ window: text })} />
  )
  if (draft.kind === 'silence') return <>no session has started for {window}</>
  if (draft.kind === 'issue') return <>an issue is new or reopened within {window}</>
  if (draft.kind === 'rule')
    return (
      <>
        <Blank
          label="Sessions"
          value={draft.sessions}
          width={3}
          onChange={(sessions) => change({ sessions })}
        />{' '}
        of the sessions within {window} break <RuleBlanks draft={draft} change={change} />
      </>
    )
  return <RateBlanks draft={draft} change={change} window={window} />
}

function RateBlanks({ draft, change, window }: BlanksProps & { window: ReactNode }) {
  const { measure, isChange } = draft
  return (
    <>
      the{' '}
      <Choice
        label="Measure"
        value={measure}
        options={measures.map((name) => [name, measureNames[name].toLowerCase()])}
        onChange={(next) => change({ measure: next, limit: isChange ? draft.limit : limitExamples[next] })}
      />{' '}
      {measure === 'score' && (
        <>
          <Blank
            label="Score"
            value={draft.score}
            width={10}
            placeholder="helpful"
            onChange={(score) => change({ score })}
          />{' '}
        </>
      )}
      over {window} is{' '}
      <Choice
        label="Direction"
        value={draft.is}
        options={[
          ['above', 'above'],
          ['below', 'below'],
        ]}
        onChange={(is) => change({ is })}
      />{' '}
      <Blank label="Limit" value={draft.limit} width={7} onChange={(limit) => change({ limit })} />{' '}
      <Choice
        label="Compared with"
        value={isChange ? 'change' : 'value'}
        options={[
          ['value', 'as it is'],
          ['change', 'more than a week before'],
        ]}
        onChange={(next) => change({ isChange: next === 'change' })}
      />{' '}
      with at least{' '}
      <Blank label="Minimum" value={draft.minimum} width={4} onChange={(minimum) => change({ minimum })} />{' '}
      sessions
    </>
  )
}

const needsAction = new Set(['never', 'always', 'at-most', 'only', 'no-finding', 'score'])
const needsNumber = new Set(['at-most', 'cost', 'duration', 'score'])

function RuleBlanks({ draft, change }: BlanksProps) {
  const { ruleKind } = draft
  return (
    <>
      <Choice
        label="Rule"
        value={ruleKind}
        options={ruleKinds.map((kind) => [kind, ruleNames[kind].toLowerCase()])}
        onChange={(next) => change({ ruleKind: next })}
      />{' '}
      {needsNumber.has(ruleKind) && ruleKind !== 'score' && (
        <>
          <Blank
            label="Limit of the rule"
            value={draft.number}
            width={6}
            onChange={(number) => change({ number })}
          />{' '}
        </>
      )}
      {needsAction.has(ruleKind) && (
        <Blank
          label={ruleKind === 'score' ? 'Score' : ruleKind === 'no-finding' ? 'Findings' : 'Action'}
          value={draft.action}
          width={18}
          placeholder={placeholders[ruleKind] ?? 'issue_refund'}
          onChange={(action) => change({ action })}
        />
      )}
      {ruleKind === 'score' && (
        <>
          {' '}
          <Blank
            label="Limit of the rule"
            value={draft.number}
            width={6}
            onChange={(number) => change({ number })}
          />
        </>
      )}
      {ruleKind === 'never' && (
        <>
          {' '}
          before{' '}
          <Blank
            label="Before"
            value={draft.before}
            width={18}
            placeholder="(at all)"
            onChange={(before) => change({ before })}
          />
        </>
      )}
    </>
  )
}

const placeholders: Readonly<Record<string, string>> = {
  only: 'search, lookup',
  'at-most': 'any action',
  'no-finding': 'loop, bad-argument',
  score: 'helpful',
}

type BlankProps = {
  label: string
  value: string
  width: number
  placeholder?: string
  onChange: (value: string) => void
}

function Blank({ label, value, width, placeholder, onChange }: BlankProps) {
  return (
    <input
      className="monitor-blank"
      aria-label={label}
      value={value}
      placeholder={placeholder}
      style={{ width: `${width + 2}ch` }}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

type ChoiceProps<Value extends string> = {
  label: string
  value: Value
  options: readonly (readonly [Value, string])[]
  onChange: (value: Value) => void
}

function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <select
      className="monitor-blank"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value as Value)}
    >
      {options.map(([id, text]) => (
        <option key={id} value={id}>
          {text}
        </option>
      ))}
    </select>
  )
}
