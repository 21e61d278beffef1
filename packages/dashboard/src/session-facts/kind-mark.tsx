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
import type { StepKind } from '@playhead/model'

const looks: Record<StepKind, [word: string, icon: LucideIcon, colour: string]> = {
  llm: ['model call', MessageSquareText, '--kind-llm'],
  embedding: ['embedding', Binary, '--kind-llm'],
  action: ['action', Wrench, '--kind-action'],
  agent: ['agent', Bot, '--kind-agent'],
  retrieval: ['retrieval', FileSearch, '--kind-retrieval'],
  guardrail: ['guardrail', ShieldCheck, '--kind-guardrail'],
  handoff: ['handoff', Forward, '--kind-handoff'],
  evaluator: ['evaluator', ClipboardCheck, '--kind-guardrail'],
  workflow: ['workflow', Waypoints, '--kind-agent'],
  event: ['event', Zap, '--kind-other'],
  other: ['other step', Box, '--kind-other'],
}

/** The kind of a step: an icon in its colour, and its word for those who don't see it. */
export function KindMark({ kind, isBad = false }: { kind: StepKind; isBad?: boolean }) {
  const [word, Icon, colour] = looks[kind]
  return (
    <span title={word} style={{ display: 'inline-flex', color: `var(${isBad ? '--bad' : colour})` }}>
      <Icon size={14} strokeWidth={2.1} aria-hidden="true" />
      <span className="visually-hidden">{word}</span>
    </span>
  )
}
