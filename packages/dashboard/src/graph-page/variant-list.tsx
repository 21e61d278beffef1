import { Link, useNavigate } from '@tanstack/react-router'
import type { MouseEvent } from 'react'
import { countOf, visibleText, type DecisionGraph, type GraphVariant } from '@playhead/model'
import { formatShare } from '../ui/charts/share-bar.tsx'
import { failsMore } from './visible-graph.ts'

const LISTED = 30

type VariantListProps = {
  graph: DecisionGraph
  /** The session that was selected first for a comparison. */
  marked: string | undefined
  onMark: (sessionId: string | undefined) => void
  onHover: (path: readonly string[] | undefined) => void
}

/** The paths that sessions took, most common first. Shift-click two to compare a session of each. */
export function VariantList({ graph, marked, onMark, onHover }: VariantListProps) {
  const navigate = useNavigate()
  const compare = (event: MouseEvent, sessionId: string) => {
    if (!event.shiftKey) return
    event.preventDefault()
    if (marked === undefined || marked === sessionId) onMark(marked === sessionId ? undefined : sessionId)
    else void navigate({ to: '/compare', search: { a: marked, b: sessionId } })
  }
  const shown = graph.variants.slice(0, LISTED)
  return (
    <section className="variants" aria-label="Variants">
      <h2>
        Variants <span className="dim">{countOf(graph.variantCount, 'path')}</span>
      </h2>
      <ol>
        {shown.map((variant) => (
          <VariantRow
            key={variant.id}
            variant={variant}
            graph={graph}
            isMarked={variantSession(variant) === marked}
            onCompare={compare}
            onHover={onHover}
          />
        ))}
      </ol>
      {graph.variantCount > shown.length && (
        <p className="dim">and {graph.variantCount - shown.length} rarer paths</p>
      )}
      <p className="dim variants-hint">
        {marked === undefined ? 'Shift-click two to compare them.' : 'Shift-click another one to compare.'}
      </p>
    </section>
  )
}

/** An example session of a path: a failed one if there is any. */
function variantSession({ examples: { failed, passed, last } }: GraphVariant): string {
  return failed[0] ?? passed[0] ?? last
}

type VariantRowProps = {
  variant: GraphVariant
  graph: DecisionGraph
  isMarked: boolean
  onCompare: (event: MouseEvent, sessionId: string) => void
  onHover: (path: readonly string[] | undefined) => void
}

function VariantRow({ variant, graph, isMarked, onCompare, onHover }: VariantRowProps) {
  const { failure } = variant
  const sessionId = variantSession(variant)
  const passing = otherPassing(graph, variant)
  const isMore = failsMore(failure, graph.failure)
  return (
    <li className={isMarked ? 'variant is-marked' : 'variant'}>
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId }}
        className="variant-main"
        onClick={(event) => onCompare(event, sessionId)}
        onPointerEnter={() => onHover(variant.path)}
        onPointerLeave={() => onHover(undefined)}
        onFocus={() => onHover(variant.path)}
        onBlur={() => onHover(undefined)}
      >
        <span className="variant-figures">
          <b>{formatShare(variant.sessions / Math.max(1, graph.sessions))}</b>
          <span className="dim">{countOf(variant.sessions, 'session')}</span>
          <span className={passClass(failure)}>
            {failure.ended === 0 ? 'no results yet' : `${formatShare(1 - (failure.rate ?? 0))} pass`}
          </span>
          {isMore && <span className="variant-more">fails more than usual</span>}
        </span>
        <span className="variant-path">
          {variant.path.length === 0 ? 'no steps' : variant.path.map(shortName).join(' → ')}
        </span>
      </Link>
      {failure.failed > 0 && passing !== undefined && (
        <Link to="/compare" search={{ a: passing, b: sessionId }} className="variant-compare">
          Compare with a passing session
        </Link>
      )}
    </li>
  )
}

/** A session that passed: of the same path if possible, else of the most common path that passes. */
function otherPassing({ variants }: DecisionGraph, variant: GraphVariant): string | undefined {
  return (
    variant.examples.passed[0] ??
    variants.find(({ examples }) => examples.passed.length > 0)?.examples.passed[0]
  )
}

function passClass({ failed, ended }: GraphVariant['failure']): string {
  if (ended === 0) return 'variant-pass is-open'
  return failed > 0 ? 'variant-pass is-bad' : 'variant-pass'
}

function shortName(id: string): string {
  return visibleText(id.slice(id.indexOf(' ') + 1))
}
