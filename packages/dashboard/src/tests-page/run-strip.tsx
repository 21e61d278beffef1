import { Link } from '@tanstack/react-router'
import {
  describeEndState,
  formatCost,
  formatDuration,
  type EndState,
  visibleText,
  type TestRun,
} from '@playhead/model'
import { Check, CircleHelp, Minus, X, LoaderCircle, type LucideIcon } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { formatExactTime } from '../ui/data/age.tsx'
import './run-strip.css'

export const runIcons: Record<EndState, LucideIcon> = {
  success: Check,
  fail: X,
  indeterminate: CircleHelp,
  running: LoaderCircle,
  lost: Minus,
}

/** The latest runs of a test, oldest first; each opens its session. Arrow keys move between them. */
export function RunStrip({ runs, label }: { runs: readonly TestRun[]; label: string }) {
  const inOrder = runs.toReversed()
  return (
    // The links are interactive; arrow keys only move the focus between them.
    <ul className="run-strip" aria-label={label} onKeyDown={moveFocus}>
      {inOrder.map((run, index) => {
        const Icon = runIcons[run.endState]
        return (
          <li key={run.sessionId}>
            <Link
              to="/sessions/$sessionId"
              params={{ sessionId: run.sessionId }}
              preload={false}
              className={`run-cell run-${run.endState}`}
              aria-label={describeRun(run)}
              title={describeRun(run)}
              // One tab stop for the whole strip.
              tabIndex={index === inOrder.length - 1 ? 0 : -1}
            >
              <Icon size={11} strokeWidth={3} aria-hidden="true" />
            </Link>
          </li>
        )
      })}
    </ul>
  )
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
  const cell = (event.target as HTMLElement).closest('li')
  const next = event.key === 'ArrowLeft' ? cell?.previousElementSibling : cell?.nextElementSibling
  next?.querySelector('a')?.focus()
  event.preventDefault()
}

export function describeRun(run: Omit<TestRun, 'sessionId'>): string {
  const parts = [
    describeEndState(run.endState),
    run.variant !== undefined && `“${run.variant}”`,
    run.attempt !== undefined && `attempt ${run.attempt}`,
    formatExactTime(run.startedAt),
    run.durationMs !== null && formatDuration(run.durationMs),
    run.cost !== null && formatCost(run.cost),
    run.branch,
    run.commit?.slice(0, 8),
  ]
  return visibleText(parts.filter(Boolean).join(' · '))
}
