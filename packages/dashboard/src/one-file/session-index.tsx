import { useState } from 'react'
import {
  countOf,
  describeEndState,
  endStates,
  formatCost,
  formatDuration,
  visibleText,
  type EndState,
  type SessionSummary,
} from '@playhead/model'
import { SearchInput } from '../ui/controls/search-input.tsx'
import { EndStateMark } from '../replay-page/header/session-header.tsx'
import { hashOf } from './hash-location.ts'
import { patternOf } from '../replay-page/steps/step-search.ts'

const order: readonly EndState[] = ['fail', 'lost', 'indeterminate', 'running', 'success']
const SHOWN_AT_FIRST = 300

/** The list of sessions in the file, failures first. */
export function OneFileIndex({ sessions }: { sessions: readonly SessionSummary[] }) {
  const [text, setText] = useState('')
  const [count, setCount] = useState(SHOWN_AT_FIRST)
  const pattern = patternOf(text)
  const found = sessions
    .filter((session) => pattern === undefined || pattern.test(searchableText(session)))
    .toSorted((left, right) => order.indexOf(left.endState) - order.indexOf(right.endState))
  if (sessions.length === 0) return <p className="one-file-empty">This file contains no sessions.</p>
  return (
    <div className="one-file-index">
      <h1>{countOf(sessions.length, 'session')}</h1>
      <p className="dim">{describeStates(sessions)}</p>
      <SearchInput
        label="Search sessions"
        placeholder="Search by name, test, tag or error"
        value={text}
        onChange={setText}
      />
      <ul>
        {found.slice(0, count).map((session) => (
          <li key={session.id}>
            <a href={hashOf(session.id, {})}>
              <EndStateMark state={session.endState} />
              <span className="one-file-name">
                <b>{visibleText(session.name)}</b>
                <span className="dim">
                  {visibleText(session.endStateReason ?? session.test?.name ?? session.inputPreview ?? '')}
                </span>
              </span>
              <span className="dim">{countOf(session.stepCount, 'step')}</span>
              <span className="dim">{session.cost === null ? '' : formatCost(session.cost)}</span>
              <span className="dim">
                {session.durationMs === null ? '' : formatDuration(session.durationMs)}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="dim">No sessions match “{text.trim()}”.</p>}
      {found.length > count && (
        <button type="button" className="long-text-more" onClick={() => setCount(count + 1_000)}>
          Show more ({found.length} in total)
        </button>
      )}
    </div>
  )
}

function describeStates(sessions: readonly SessionSummary[]): string {
  return endStates
    .map((state) => [state, sessions.filter(({ endState }) => endState === state).length] as const)
    .filter(([, number]) => number > 0)
    .map(([state, number]) => `${number} ${describeEndState(state)}`)
    .join(' · ')
}

function searchableText({
  id,
  name,
  tags,
  endState,
  endStateReason,
  test,
  inputPreview,
  models,
  tools,
}: SessionSummary): string {
  return [
    id,
    name,
    ...tags,
    endState,
    endStateReason,
    test?.file,
    test?.suite,
    test?.name,
    test?.variant,
    inputPreview,
    ...models,
    ...tools,
  ].join('\n')
}
