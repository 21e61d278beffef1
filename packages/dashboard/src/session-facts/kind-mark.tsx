import type { StepKind } from '@playhead/model'
import {
  Binary,
  Bot,
  Box,
  ClipboardCheck,
  FileSearch,
  Forward,
  MessageSquareText,
  ShieldCheck,
  Waypoints,
  Wrench,
  Zap,
  type LucideIcon,
} from 'lucide-react'
import { memo } from 'react'

/** The icon of a step's kind, with its name for screen readers. */
export const KindMark = memo(function KindMark({
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
})

/** The name, icon and colour of each kind of step. */
export const kindLooks: Record<StepKind, { word: string; icon: LucideIcon; colour: string }> = {
  llm: { word: 'model call', icon: MessageSquareText, colour: '--kind-llm' },
  embedding: { word: 'embedding', icon: Binary, colour: '--kind-llm' },
  action: { word: 'action', icon: Wrench, colour: '--kind-action' },
  agent: { word: 'agent', icon: Bot, colour: '--kind-agent' },
  retrieval: { word: 'retrieval', icon: FileSearch, colour: '--kind-retrieval' },
  guardrail: { word: 'guardrail', icon: ShieldCheck, colour: '--kind-guardrail' },
  handoff: { word: 'handoff', icon: Forward, colour: '--kind-handoff' },
  evaluator: { word: 'evaluator', icon: ClipboardCheck, colour: '--kind-guardrail' },
  workflow: { word: 'workflow', icon: Waypoints, colour: '--kind-agent' },
  event: { word: 'event', icon: Zap, colour: '--kind-other' },
  other: { word: 'other step', icon: Box, colour: '--kind-other' },
}
