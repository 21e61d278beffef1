import type { StepKind } from '@playhead/model'
import { kindLooks } from './kind-looks.ts'

/** The icon of a step's kind, with its name for screen readers. */
export function KindMark({
  kind,
  isBad = false,
  size = 14,
}: {
  kind: StepKind
  isBad?: boolean
  size?: number
}) {
  const { word, icon: Icon, colour } = kindLooks[kind]
  return (
    <span
      className="kind-mark"
      title={word}
      style={{ display: 'inline-flex', color: `var(${isBad ? '--bad' : colour})` }}
    >
      <Icon size={size} strokeWidth={2.1} aria-hidden="true" />
      <span className="visually-hidden">{word}</span>
    </span>
  )
}
