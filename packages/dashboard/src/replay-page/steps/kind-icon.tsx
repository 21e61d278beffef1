import type { StepKind } from '@playhead/model'
import { kindLooks } from '../../session-facts/kind-looks.ts'

/** The kind of a step: an icon in its colour, and the word for those who don't see it. */
export function KindIcon({
  kind,
  isBad = false,
  size = 14,
}: {
  kind: StepKind
  isBad?: boolean
  size?: number
}) {
  const { icon: Icon, word, colour } = kindLooks[kind]
  return (
    <span className="kind-icon" style={{ color: `var(${isBad ? '--bad' : colour})` }} title={word}>
      <Icon size={size} aria-hidden="true" strokeWidth={2.1} />
      <span className="visually-hidden">{word}</span>
    </span>
  )
}
