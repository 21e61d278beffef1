import {
  ChevronFirst,
  ChevronLast,
  CircleAlert,
  CircleHelp,
  Pause,
  Play,
  Radio,
  SkipBack,
  SkipForward,
  X,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { countOf, formatCount, formatDuration, formatOffset } from '@playhead/model'
import { Button, IconButton, KeyCap } from '../../ui/controls/button.tsx'
import { totalLength } from '../playback/time-axis.ts'
import { speeds, type Speed } from '../playback/playhead.ts'
import { usePlayerState, useReplay } from '../playback/replay-context.ts'
import { saveSkipIdle } from '../playback/use-player.ts'
import './transport.css'

/** The playback controls and the current time. */
export function Transport({ verdictButtons, onHelp }: { verdictButtons: ReactNode; onHelp: () => void }) {
  const { timeline } = useReplay()
  return (
    // A click must not move the focus: Space means play, wherever the user clicked.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className="transport" onMouseDown={(event) => event.preventDefault()}>
      <MoveButtons />
      <Clock />
      <SpeedChoice />
      <SkipIdle />
      <ViewChip />
      <span className="transport-space" />
      {verdictButtons}
      <FollowButton />
      <StepCount />
      {timeline.errors.length > 0 && <NextError />}
      <IconButton className="transport-help" label="Keyboard shortcuts (?)" onClick={onHelp}>
        <CircleHelp size={16} aria-hidden="true" />
      </IconButton>
    </div>
  )
}

function MoveButtons() {
  const { player, timeline } = useReplay()
  const isPlaying = usePlayerState(({ motion }) => motion === 'playing')
  return (
    <div className="transport-moves" role="group" aria-label="Playback">
      <IconButton className="transport-far" label="Go to start (Home)" onClick={() => player.jumpToStart()}>
        <ChevronFirst size={18} aria-hidden="true" />
      </IconButton>
      <IconButton label="Previous step (←)" onClick={() => player.stepBy(-1)}>
        <SkipBack size={15} aria-hidden="true" fill="currentColor" />
      </IconButton>
      <button
        type="button"
        className="transport-play"
        aria-label={isPlaying ? 'Pause' : 'Play'}
        title={`${isPlaying ? 'Pause' : 'Play'} (Space)`}
        onClick={() => player.toggle()}
      >
        {isPlaying ? (
          <Pause size={15} fill="currentColor" aria-hidden="true" />
        ) : (
          <Play size={15} fill="currentColor" aria-hidden="true" />
        )}
      </button>
      <IconButton label="Next step (→)" onClick={() => player.stepBy(1)}>
        <SkipForward size={15} aria-hidden="true" fill="currentColor" />
      </IconButton>
      <IconButton
        className="transport-far"
        label="Go to end (End)"
        onClick={() => player.seek(timeline.durationMs)}
      >
        <ChevronLast size={18} aria-hidden="true" />
      </IconButton>
    </div>
  )
}

function Clock() {
  const { timeline } = useReplay()
  const now = usePlayerState(({ positionMs }) => formatOffset(positionMs))
  return (
    <span className="transport-clock mono">
      <b>{now}</b>
      <span className="transport-whole dim"> / {formatOffset(timeline.durationMs)}</span>
    </span>
  )
}

function SpeedChoice() {
  const { player } = useReplay()
  const speed = usePlayerState((state) => state.speed)
  return (
    <>
      <div className="transport-speeds" role="group" aria-label="Speed">
        {speeds.map((choice) => (
          <button
            key={choice}
            type="button"
            aria-pressed={choice === speed}
            onClick={() => player.setSpeed(choice)}
          >
            {choice}×
          </button>
        ))}
      </div>
      <select
        className="transport-speed-list"
        aria-label="Speed"
        value={speed}
        onMouseDown={(event) => event.stopPropagation()}
        onChange={(event) => player.setSpeed(Number(event.target.value) as Speed)}
      >
        {speeds.map((choice) => (
          <option key={choice} value={choice}>
            {choice}×
          </option>
        ))}
      </select>
    </>
  )
}

function SkipIdle() {
  const { player, idleGaps: gaps } = useReplay()
  const isOn = usePlayerState((state) => state.isSkippingIdle)
  const choose = (isSkipping: boolean) => {
    player.setSkippingIdle(isSkipping)
    saveSkipIdle(isSkipping)
  }
  return (
    <label className="transport-idle" title={describeIdle(gaps.length, totalLength(gaps))}>
      <input
        type="checkbox"
        checked={isOn}
        disabled={gaps.length === 0}
        onChange={(event) => choose(event.target.checked)}
      />
      Skip idle
      {gaps.length > 0 && <span className="dim">{formatDuration(totalLength(gaps))}</span>}
    </label>
  )
}

function describeIdle(count: number, lengthMs: number): string {
  if (count === 0) return 'No idle time of a second or more'
  return `${countOf(count, 'idle gap')} of a second or more, ${formatDuration(lengthMs)} in total, shown hatched`
}

/** The selected range, with a button to clear it. */
function ViewChip() {
  const { player } = useReplay()
  const view = usePlayerState((state) => state.view)
  if (view === null) return null
  return (
    <button
      type="button"
      className="transport-view"
      title="Show the whole session (double-click)"
      onClick={() => player.setView(null)}
    >
      <span className="transport-range">
        {formatOffset(view.startMs)} – {formatOffset(view.endMs)}
      </span>
      <X size={12} aria-label="Show the whole session" />
    </button>
  )
}

function FollowButton() {
  const { player, timeline } = useReplay()
  const isFollowing = usePlayerState(({ motion }) => motion === 'following')
  if (timeline.session.endState !== 'running' || isFollowing) return null
  return (
    <Button onClick={() => player.follow()}>
      <Radio size={14} aria-hidden="true" />
      Follow
    </Button>
  )
}

function StepCount() {
  const { timeline } = useReplay()
  const stepId = usePlayerState((state) => state.stepId)
  const position = stepId === undefined ? undefined : timeline.positionOf.get(stepId)
  return (
    <span className="transport-count dim">
      <span className="transport-count-word">Step </span>
      <b>{position === undefined ? '–' : formatCount(position + 1)}</b> of{' '}
      {formatCount(timeline.steps.length)}
    </span>
  )
}

function NextError() {
  const { timeline, player, goTo } = useReplay()
  const isOnly = timeline.errors.length === 1
  return (
    <Button
      look="danger"
      className="transport-error"
      onClick={() => {
        player.jumpToError(1)
        const { stepId } = player.getState()
        if (stepId !== undefined) goTo(stepId)
      }}
    >
      <CircleAlert className="transport-error-icon" size={15} aria-hidden="true" />
      <span className="transport-error-word">{isOnly ? 'Go to error' : 'Next error'}</span>
      <span className="visually-hidden">, key E</span>
      <span className="transport-error-key" aria-hidden="true">
        <KeyCap>E</KeyCap>
      </span>
    </Button>
  )
}
