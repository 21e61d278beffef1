import type { StepKind } from '@playhead/model'
import { kindLooks } from './kind-looks.ts'

/** The kind of a step: an icon in its colour, and its word for those who don't see it. */
export function KindMark({ kind, isBad = false }: { kind: StepKind; isBad?: boolean }) {
  const { word, icon: Icon, colour } = kindLooks[kind]
  return (
    <span title={word} style={{ display: 'inline-flex', color: `var(${isBad ? '--bad' : colour})` }}>
      <Icon size={14} strokeWidth={2.1} aria-hidden="true" />
      <span className="visually-hidden">{word}</span>
    </span>
  )
}
