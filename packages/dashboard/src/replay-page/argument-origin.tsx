import { describeOrigin, visibleText, type ArgumentOrigin } from '@playhead/model'
import { useReplay } from './replay-context.ts'
import './argument-origin.css'

const MOST_LINES = 4

/** Where an argument, or parts of it, came from; leads to the step. */
export function ArgumentOriginNotes({ path, origins }: { path: string; origins: readonly ArgumentOrigin[] }) {
  const own = origins.filter(
    (origin) =>
      origin.path === path || origin.path.startsWith(`${path}.`) || origin.path.startsWith(`${path}[`),
  )
  return own
    .slice(0, MOST_LINES)
    .map((origin) => <OriginNote key={origin.path} origin={origin} inner={origin.path.slice(path.length)} />)
}

function OriginNote({ origin, inner }: { origin: ArgumentOrigin; inner: string }) {
  const { goTo } = useReplay()
  const says = describeOrigin(origin)
  if (says === undefined) return null
  const source = 'step' in origin.origin ? origin.origin.step : origin.via?.step
  const text = `← ${inner === '' ? '' : `${visibleText(inner.replace(/^\./, ''))} `}${says}`
  if (source === undefined) return <span className="argument-origin">{text}</span>
  return (
    <button type="button" className="argument-origin" onClick={() => goTo(source.id)}>
      {text}
    </button>
  )
}
