import { describeOrigin, visibleText, type ArgumentOrigin } from '@playhead/model'
import { useReplay } from '../playback/replay-context.ts'
import './action-arguments.css'

const MOST_LINES = 4
const MOST_PARTS = 3

/** Where an argument, or parts of it, came from; leads to the step. */
export function ArgumentOriginNotes({ path, origins }: { path: string; origins: readonly ArgumentOrigin[] }) {
  const own = origins.filter(
    (origin) =>
      origin.path === path || origin.path.startsWith(`${path}.`) || origin.path.startsWith(`${path}[`),
  )
  const notes = [...Map.groupBy(own, describeOrigin)].filter(([says]) => says !== undefined)
  return notes
    .slice(0, MOST_LINES)
    .map(([says, alike]) => (
      <OriginNote
        key={says}
        says={says!}
        parts={
          alike.length === own.length && own.length > 1 ? [] : alike.map((one) => one.path.slice(path.length))
        }
        origin={alike[0]!}
      />
    ))
}

type NoteProps = {
  says: string
  /** The parts of the argument that it is true of; none: of all. */
  parts: readonly string[]
  origin: ArgumentOrigin
}

function OriginNote({ says, parts, origin }: NoteProps) {
  const { goTo } = useReplay()
  const source = 'step' in origin.origin ? origin.origin.step : origin.via?.step
  const names = parts.map((part) => visibleText(part.replace(/^\./, ''))).filter((name) => name !== '')
  const more = names.length > MOST_PARTS ? ` and ${names.length - MOST_PARTS} more` : ''
  const text = [
    '←',
    ...(names.length === 0 ? [] : [names.slice(0, MOST_PARTS).join(', ') + more]),
    says,
  ].join(' ')
  if (source === undefined) return <span className="argument-origin">{text}</span>
  return (
    <button type="button" className="argument-origin" onClick={() => goTo(source.id)}>
      {text}
    </button>
  )
}
