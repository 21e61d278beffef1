import { ChevronLeft, ChevronRight, CircleCheck, CircleHelp, CircleX } from 'lucide-react'
import { useCallback, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { verdicts, type Score, type Verdict } from '@playhead/model'
import { useSessionSource } from '../../api/session-source.ts'
import { Button, IconButton, KeyCap } from '../../ui/controls/button.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { ScoreChips } from './score-chips.tsx'
import { useGiveVerdict, verdictOf, type About } from './use-verdict.ts'
import type { Review } from './use-review.ts'
import './verdict-bar.css'

const looks = {
  right: { label: 'Right', key: 'Y', Icon: CircleCheck },
  wrong: { label: 'Wrong', key: 'N', Icon: CircleX },
  unsure: { label: 'Unsure', key: 'U', Icon: CircleHelp },
} as const satisfies Record<Verdict, unknown>

/** What the keys of the page do with verdicts. */
export type VerdictKeys = {
  give: (verdict: Verdict, isAboutStep: boolean) => void
  /** Opens the next or previous session of the list; undefined outside of a review. */
  move: ((by: 1 | -1) => void) | undefined
}

type VerdictsProps = {
  /** Places the buttons, which need no row of their own. */
  children: (buttons: ReactNode) => ReactNode
  scores: readonly Score[]
  review: Review | undefined
  onOpen: (sessionId: string) => void
  /** Tells the page what its keys do. */
  onKeys: (keys: VerdictKeys | undefined) => void
}

/**
 * The verdict on the session or a step. A bar below has its note, the scores, and the way to the next session of a list,
 * if there are any.
 */
export function Verdicts({ children, scores, review, onOpen, onKeys }: VerdictsProps) {
  const { timeline, player } = useReplay()
  const { session } = timeline
  const canJudge = useSessionSource().addScore !== undefined
  const { mutate, isPending, error } = useGiveVerdict(session.id)
  const [given, setGiven] = useState<About & { verdict: Verdict }>()
  const move = useMove(review, onOpen)
  const give = useCallback(
    (verdict: Verdict, isAboutStep: boolean) => {
      const { stepId } = player.getState()
      const about = isAboutStep && stepId !== undefined ? { stepId } : {}
      mutate({ verdict, ...about })
      setGiven({ verdict, ...about })
    },
    [mutate, player],
  )
  useEffect(() => {
    onKeys(canJudge ? { give, move } : undefined)
    return () => onKeys(undefined)
  }, [onKeys, canJudge, give, move])
  const verdict = verdictOf(scores, {})
  const close = (isDone: boolean) => {
    setGiven(undefined)
    if (isDone && given?.stepId === undefined) move?.(1)
  }
  const hasBar = scores.length > 0 || given !== undefined || error !== null || review !== undefined
  return (
    <>
      {children(canJudge && <VerdictButtons value={verdict?.value} isBusy={isPending} onGive={give} />)}
      {hasBar && (
        <section className="verdict-bar" aria-label="Verdict and scores">
          {given === undefined ? (
            <ScoreChips scores={scores} />
          ) : (
            <Note
              key={`${given.verdict} ${given.stepId ?? ''}`}
              about={given}
              onSave={(note) => {
                if (note !== '') mutate({ ...given, note })
                close(true)
              }}
              onCancel={() => close(false)}
            />
          )}
          {error !== null && (
            <span className="verdict-error" role="alert">
              {error.message}
            </span>
          )}
          {review !== undefined && <Progress review={review} move={move} />}
        </section>
      )}
    </>
  )
}

function useMove(review: Review | undefined, onOpen: (sessionId: string) => void) {
  const move = useCallback(
    (by: 1 | -1) => {
      const next = review?.ids[review.position + by]
      if (next !== undefined) onOpen(next)
    },
    [review, onOpen],
  )
  return review === undefined ? undefined : move
}

function VerdictButtons({
  value,
  isBusy,
  onGive,
}: {
  value: Score['value'] | undefined
  isBusy: boolean
  onGive: (verdict: Verdict, isAboutStep: boolean) => void
}) {
  return (
    <span className="verdict-buttons" role="group" aria-label="Verdict">
      {verdicts.map((verdict) => {
        const { label, key, Icon } = looks[verdict]
        return (
          <Button
            key={verdict}
            className={`verdict-${verdict}`}
            aria-pressed={value === verdict}
            aria-keyshortcuts={key.toLowerCase()}
            title={`${label}; with Shift, the selected step`}
            disabled={isBusy}
            onClick={(event) => onGive(verdict, event.shiftKey)}
          >
            <Icon size={13} aria-hidden="true" />
            <span className="verdict-word">{label}</span>
            <KeyCap>{key}</KeyCap>
          </Button>
        )
      })}
    </span>
  )
}

type NoteProps = {
  about: About & { verdict: Verdict }
  onSave: (note: string) => void
  onCancel: () => void
}

/** Enter saves the note, or goes on without one; Escape stays here. */
function Note({ about, onSave, onCancel }: NoteProps) {
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Escape') onCancel()
    else onSave(text.trim())
  }
  const what = about.stepId === undefined ? 'session' : 'step'
  return (
    <span className="verdict-note">
      <span className="dim">
        {looks[about.verdict].label} {what}.
      </span>
      <input
        ref={field}
        value={text}
        maxLength={4_000}
        aria-label={`Note on the ${what}`}
        placeholder="Add a note, or press Enter to go on"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
    </span>
  )
}

function Progress({ review, move }: { review: Review; move: VerdictKeys['move'] }) {
  const { ids, reviewed, position } = review
  return (
    <span className="verdict-progress" role="status">
      <IconButton label="Previous session (K)" disabled={position <= 0} onClick={() => move?.(-1)}>
        <ChevronLeft size={15} aria-hidden="true" />
      </IconButton>
      <span>
        {position + 1} of {ids.length} · <b>{reviewed.size}</b> reviewed
      </span>
      <IconButton label="Next session (J)" disabled={position >= ids.length - 1} onClick={() => move?.(1)}>
        <ChevronRight size={15} aria-hidden="true" />
      </IconButton>
    </span>
  )
}
