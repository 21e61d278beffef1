import { Link, useNavigate } from '@tanstack/react-router'
import {
  describeRerun,
  showScore,
  VERDICT,
  visibleText,
  type Score,
  type SessionSummary,
} from '@playhead/model'
import { memo, type MouseEvent } from 'react'
import type { ListedSession } from '../api/sessions.ts'
import { EndStateBadge } from '../session-facts/end-state.tsx'
import { Cost, Duration, Tokens } from '../session-facts/figures.tsx'
import { Age } from '../ui/data/age.tsx'
import { ShareBar } from '../ui/charts/share-bar.tsx'
import { TagChip } from '../session-facts/tag-chip.tsx'
import { Popover } from '../ui/controls/menu.tsx'

type SessionRowProps = {
  session: ListedSession
  index: number
  isSelected: boolean
  /** Whether the keyboard focus is on this row. */
  isActive: boolean
  /** The duration at which the bar is full. */
  fullDurationMs: number
  top: number
  height: number
  onSelect: (id: string, isRange: boolean) => void
  onTag: (tag: string) => void
  onScore: (name: string) => void
  onFocus: (index: number) => void
}

/** One session: a row of the table, a card on a phone. */
export const SessionRow = memo(function SessionRow(props: SessionRowProps) {
  const { session, index, isSelected, isActive, onSelect } = props
  const navigate = useNavigate()
  const open = (event: MouseEvent<HTMLElement>) => {
    if ((event.target as HTMLElement).closest('a, button, input, label') !== null) return
    void navigate({ to: '/sessions/$sessionId', params: { sessionId: session.id } })
  }
  return (
    // The grid handles the keys.
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className="session-row"
      data-index={index}
      style={{ height: props.height, transform: `translateY(${props.top}px)` }}
      tabIndex={isActive ? 0 : -1}
      onFocus={() => props.onFocus(index)}
      onClick={open}
    >
      <span role="gridcell" className="session-check">
        <label>
          <span className="visually-hidden">Select {session.name}</span>
          <input
            type="checkbox"
            tabIndex={-1}
            checked={isSelected}
            onChange={(event) => onSelect(session.id, (event.nativeEvent as PointerEvent).shiftKey)}
          />
        </label>
      </span>
      <span role="gridcell" className="session-state">
        <EndStateBadge state={session.endState} reason={session.endStateReason} />
      </span>
      <SessionName session={session} />
      <span role="gridcell" className="session-tags">
        <SessionScores scores={session.scores ?? []} onScore={props.onScore} />
        <SessionTags tags={session.tags} onTag={props.onTag} />
      </span>
      <Facts session={session} fullDurationMs={props.fullDurationMs} />
    </div>
  )
})

function SessionName({ session }: { session: ListedSession }) {
  const { inputPreview, endStateReason, endState, suspect } = session
  return (
    <span role="gridcell" className="session-name">
      <span className="session-title">
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: session.id }}
          preload={false}
          tabIndex={-1}
          title={visibleText(session.name)}
        >
          {visibleText(session.name)}
        </Link>
        {session.demo && <span className="session-demo">demo</span>}
        {session.parentId !== undefined && (
          <span className="session-rerun" title={describeRerun(session)}>
            {session.lane === 'fork' ? 'fork' : 're-run'}
          </span>
        )}
        {suspect !== undefined && (
          <span className="session-finding" title={visibleText(suspect.sentence)}>
            {suspect.kind}
          </span>
        )}
      </span>
      <span className="session-line">
        {inputPreview !== undefined && inputPreview !== session.name && (
          <span>{visibleText(inputPreview)}</span>
        )}
        {endState === 'fail' && endStateReason !== undefined && (
          <span className="session-reason" title={visibleText(endStateReason)}>
            {visibleText(endStateReason)}
          </span>
        )}
      </span>
    </span>
  )
}

function Facts({ session, fullDurationMs }: { session: SessionSummary; fullDurationMs: number }) {
  const { durationMs, errorCount } = session
  return (
    <>
      <span role="gridcell" className="session-steps">
        {session.stepCount.toLocaleString('en')}
        <span className="session-unit"> {session.stepCount === 1 ? 'step' : 'steps'}</span>
        {errorCount > 0 && (
          <span className="session-errors">
            {errorCount} {errorCount === 1 ? 'error' : 'errors'}
          </span>
        )}
      </span>
      <span role="gridcell" className="session-tokens">
        <Tokens usage={session.usage} />
        <span className="session-unit"> tokens</span>
      </span>
      <span role="gridcell" className="session-cost">
        <Cost {...session} />
      </span>
      <span role="gridcell" className="session-duration">
        <Duration durationMs={durationMs} />
        {durationMs !== null && (
          <ShareBar share={fullDurationMs === 0 ? 0 : durationMs / fullDurationMs} color="var(--kind-llm)" />
        )}
      </span>
      <span role="gridcell" className="session-when">
        <Age time={session.startedAt} />
      </span>
    </>
  )
}

const SHOWN_SCORES = 2

/** A click adds the score to the filter, which then charts it and can sort by it. */
function SessionScores({ scores, onScore }: { scores: readonly Score[]; onScore: (name: string) => void }) {
  return scores.slice(0, SHOWN_SCORES).map(({ id, name, value, comment }) => (
    <button
      key={id}
      type="button"
      className={`session-score is-${typeof value === 'string' ? value : 'number'}`}
      title={visibleText(comment === undefined ? `Filter by ${name}` : `${name}: ${comment}`)}
      tabIndex={-1}
      onClick={(event) => {
        event.stopPropagation()
        onScore(name)
      }}
    >
      {name !== VERDICT && `${visibleText(name)} `}
      <b>{visibleText(showScore(value))}</b>
    </button>
  ))
}

const SHOWN = 2

/** The first tags, and a popover with the rest. A click adds the tag to the filter. */
function SessionTags({ tags, onTag }: { tags: readonly string[]; onTag: (tag: string) => void }) {
  const rest = tags.slice(SHOWN)
  return (
    <>
      {tags.slice(0, SHOWN).map((tag) => (
        <TagChip key={tag} title={`Filter by ${tag}`} tabIndex={-1} onClick={() => onTag(tag)}>
          {tag}
        </TagChip>
      ))}
      {rest.length > 0 && (
        <Popover
          label="More tags"
          trigger={
            <button type="button" className="tag-more" tabIndex={-1} aria-label={`${rest.length} more tags`}>
              +{rest.length}
            </button>
          }
        >
          <div className="tag-rest">
            {rest.map((tag) => (
              <TagChip key={tag} title={`Filter by ${tag}`} onClick={() => onTag(tag)}>
                {tag}
              </TagChip>
            ))}
          </div>
        </Popover>
      )}
    </>
  )
}
