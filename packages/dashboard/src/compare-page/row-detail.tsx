import { Link } from '@tanstack/react-router'
import { SquareArrowOutUpRight } from 'lucide-react'
import {
  describeDifference,
  formatCost,
  formatDuration,
  isMinor,
  stepInput,
  stepName,
  stepResult,
  visibleText,
  type AlignedRow,
  type Session,
  type Step,
} from '@playhead/model'
import { useStep } from '../api/use-step.ts'
import { KindMark } from '../session-facts/kind-mark.tsx'
import { sortByImportance } from './row-differences.ts'
import { TextDiff } from './text-diff.tsx'
import type { Comparison } from './use-comparison.ts'
import './row-detail.css'

/** The details of a row: its differences, and the input and output of both steps side by side. */
export function RowDetail({ comparison, row: position }: { comparison: Comparison; row: number }) {
  const row = comparison.alignment.rows[position]
  if (row === undefined) return <section className="row-detail" aria-label="Step details" />
  const step = (row.b ?? row.a)!
  return (
    <section className="row-detail" aria-label="Step details">
      <h2>
        <KindMark kind={step.kind} />
        {visibleText(stepName(step))}
      </h2>
      <Differences row={row} isPending={comparison.alignment.pending.has(position)} />
      <Facts row={row} comparison={comparison} position={position} />
      <Contents key={position} row={row} comparison={comparison} />
    </section>
  )
}

function Differences({ row, isPending }: { row: AlignedRow; isPending: boolean }) {
  if (isPending) return <p className="dim">Not yet: the session that runs has not come this far.</p>
  if (row.differences.length === 0)
    return (
      <p className="dim">
        {row.isReordered === true
          ? 'Identical, but in a different position among parallel steps.'
          : 'Identical in both sessions.'}
      </p>
    )
  return (
    <ul className="row-differences">
      {sortByImportance(row.differences).map((difference, index) => (
        <li key={index} className={isMinor(difference) ? 'is-minor' : ''}>
          {visibleText(describeDifference(difference, row).replace(/^,? /, ''))}
        </li>
      ))}
    </ul>
  )
}

function Facts({ row, comparison, position }: { row: AlignedRow; comparison: Comparison; position: number }) {
  return (
    <div className="row-facts">
      {(['a', 'b'] as const).map((side) => {
        const step = row[side]
        return (
          <p key={side}>
            <span className="compare-side">{side.toUpperCase()}</span>
            {step === undefined ? (
              <span className="dim">
                {comparison.alignment.pending.has(position) ? 'Not yet' : 'Not in this session'}
              </span>
            ) : (
              <>
                <span>{factsOf(step)}</span>
                <Link
                  to="/sessions/$sessionId"
                  params={{ sessionId: comparison[side].session.id }}
                  search={{ step: step.id }}
                  aria-label={`Open this step in the replay of ${side.toUpperCase()}`}
                >
                  replay <SquareArrowOutUpRight size={12} aria-hidden="true" />
                </Link>
              </>
            )}
          </p>
        )
      })}
    </div>
  )
}

function factsOf(step: Step): string {
  const facts = [
    step.durationMs === null ? undefined : formatDuration(step.durationMs),
    step.cost === null ? undefined : formatCost(step.cost),
    step.usage?.input === undefined ? undefined : `${step.usage.input} in`,
    step.usage?.output === undefined ? undefined : `${step.usage.output} out`,
    step.status === 'ok' ? undefined : step.status,
  ]
  return facts.filter((fact) => fact !== undefined).join(' · ')
}

/** Loads the payloads of the current step if the sessions were too long to load completely. */
function Contents({ row, comparison }: { row: AlignedRow; comparison: Comparison }) {
  const a = useWholeStep(comparison.a, row.a)
  const b = useWholeStep(comparison.b, row.b)
  return (
    <>
      <TextDiff title="Input" a={sideText(a, stepInput)} b={sideText(b, stepInput)} />
      <TextDiff title="Output" a={sideText(a, stepResult)} b={sideText(b, stepResult)} />
    </>
  )
}

function useWholeStep({ session }: Session, step: Step | undefined): Step | undefined {
  const { data } = useStep(session.id, step, { enabled: step?.hasPayload === false })
  return step?.hasPayload === false ? (data ?? step) : step
}

function sideText(
  step: Step | undefined,
  read: (step: Step, hasPayloads: boolean) => unknown,
): string | undefined {
  return step === undefined ? undefined : readableValue(read(step, true))
}

/**
 * A recorded value as text that can be compared line by line: JSON with sorted keys, messages as paragraphs, a model
 * response as its text and its tool calls.
 */
export function readableValue(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  if (isTexts(value)) return value.join('\n\n')
  if (isAnswer(value)) {
    const calls = value.calls.map(({ name, arguments: values }) => `${name}(${readableJson(values)})`)
    return [value.text, ...calls].filter((part) => part !== '').join('\n')
  }
  return readableJson(value)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
}

function isAnswer(value: unknown): value is { text: string; calls: { name: string; arguments: unknown }[] } {
  return typeof value === 'object' && value !== null && 'calls' in value && 'text' in value
}

function readableJson(value: unknown): string {
  return JSON.stringify(value, withSortedKeys, 2) ?? ''
}

function withSortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
