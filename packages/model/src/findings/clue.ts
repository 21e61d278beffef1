import { describeValue, oneLine, visibleText } from '../format/visible-text.ts'
import { stepTitle, type Step } from '../session/step.ts'
import type { Clue, FindingEvidence } from './finding.ts'
import type { Turn } from './trajectory.ts'

const VALUE_WIDTH = 60
const TEXT_WIDTH = 160

/** "step 3 search_help", with the agent for a model's turn: "step 5 Planner". */
export function nameTurn(turn: Pick<Turn, 'step' | 'position' | 'name' | 'role'>): string {
  const name = turn.role === 'action' ? turn.name : (turn.step.agent ?? stepTitle(turn.step))
  return `step ${turn.position + 1} ${visibleText(name)}`
}

export function showValue(value: unknown): string {
  return value === undefined ? 'nothing' : describeValue(value, VALUE_WIDTH)
}

/** The place of a value, with what stands there. */
export function evidenceAt(turn: Pick<Turn, 'step'>, path: string, text: string): FindingEvidence {
  return { stepId: turn.step.id, path, text: oneLine(text, TEXT_WIDTH) }
}

/** The sentence of a text that a pattern matches, cut to one line. */
export function quoteMatch(text: string, pattern: RegExp): string {
  const found = pattern.exec(text)
  if (found === null) return oneLine(text, VALUE_WIDTH * 2)
  const before = text.slice(Math.max(0, found.index - 80), found.index)
  const start =
    found.index - before.length + Math.max(before.lastIndexOf('. ') + 1, before.lastIndexOf('\n') + 1, 0)
  return oneLine(text.slice(start, found.index + 160), VALUE_WIDTH * 2)
}

export function toClue(
  rule: Clue['rule'],
  { step }: Pick<Turn, 'step'>,
  strength: number,
  sentence: string,
  evidence: Clue['evidence'],
  shownAt?: Pick<Turn, 'step'>,
): Clue {
  const shown = shownAt === undefined || shownAt.step.id === step.id ? {} : { shownAt: shownAt.step.id }
  return { rule, stepId: step.id, ...shown, strength, sentence, evidence }
}

export function toBareTurn(step: Step, steps: readonly Step[]): Turn {
  return {
    step,
    position: steps.indexOf(step),
    role: 'decision',
    name: step.name,
    text: '',
    calls: [],
    effect: step.effect,
    author: undefined,
    actions: [],
    isDelegate: false,
  }
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
