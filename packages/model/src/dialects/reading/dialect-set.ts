import type { Attributes } from '../../otlp/span.ts'
import type { StepKind } from '../../session/step.ts'
import type { Dialect, SpanReading, UsageContext } from './dialect.ts'
import type { Fields } from './fields.ts'
import { KeyMeanings } from './key-meaning.ts'

/**
 * A dialect and its turn for each question, lowest first. Without a number its turn is 50, and equal turns follow the
 * order of the list.
 */
export type DialectEntry = { dialect: Dialect; kind?: number; label?: number; messages?: number }

type Asked = { dialect: Dialect; bit: number }

const DEFAULT_TURN = 50
const MAX_DIALECTS = 30
/** The bit of `signs` that is set for every span, for dialects without signs. */
export const ALWAYS = 1 << MAX_DIALECTS

/** A list of dialects, indexed by key and ordered for each question. */
export class DialectSet {
  readonly all: readonly Asked[]
  readonly keys: KeyMeanings
  readonly kindOrder: readonly Asked[]
  readonly labelOrder: readonly Asked[]
  readonly messageOrder: readonly Asked[]
  readonly expandOrder: readonly Asked[]
  /** Those with each of the rules that few dialects have. */
  readonly withRule: Readonly<Record<Rule, readonly Asked[]>>
  /** Spans of one batch share their resource, so it is read once. */
  readonly resources = new WeakMap<Attributes, Fields>()

  constructor(entries: readonly DialectEntry[]) {
    if (entries.length > MAX_DIALECTS) throw new Error(`at most ${MAX_DIALECTS} dialects fit into a bit set`)
    this.all = entries.map(({ dialect }, index) => ({
      dialect,
      bit: hasSigns(dialect) ? 1 << index : ALWAYS,
    }))
    this.keys = new KeyMeanings(entries.map(({ dialect }) => dialect))
    const inTurn = (question: 'kind' | 'label' | 'messages', isAsked: (asked: Asked) => boolean) =>
      this.all
        .map((asked, index) => ({ asked, turn: entries[index]![question] ?? DEFAULT_TURN }))
        .filter(({ asked }) => isAsked(asked))
        .sort((left, right) => left.turn - right.turn)
        .map(({ asked }) => asked)
    this.expandOrder = this.all.filter(({ dialect }) => dialect.expand !== undefined)
    this.withRule = Object.fromEntries(
      rules.map((rule) => [rule, this.all.filter(({ dialect }) => dialect[rule] !== undefined)]),
    ) as Record<Rule, Asked[]>
    this.kindOrder = inTurn('kind', ({ dialect }) => dialect.kind !== undefined)
    this.labelOrder = inTurn('label', ({ bit }) => bit !== ALWAYS)
    this.messageOrder = inTurn(
      'messages',
      ({ dialect }) => dialect.inputMessages !== undefined || dialect.outputMessages !== undefined,
    ).map(({ dialect, bit }) => ({ dialect, bit: dialect.hasSharedMessageKeys === true ? ALWAYS : bit }))
  }
}

const rules = [
  'excludesCache',
  'isUsageRollup',
  'isUsageEstimated',
  'hasFirstTokenInMs',
  'failsByException',
] as const satisfies readonly (keyof Dialect)[]
type Rule = (typeof rules)[number]

function hasSigns({ signs, scopes }: Dialect): boolean {
  return signs !== undefined || scopes !== undefined
}

type Question = 'expand' | 'kind' | 'inputMessages' | 'outputMessages'
type Reply<Name extends Question> = ReturnType<NonNullable<Dialect[Name]>> | undefined

/** Asks one dialect. If it throws, the failure is recorded and it counts as having no answer. */
export function ask<Name extends Question>(
  dialect: Dialect,
  question: Name,
  reading: SpanReading,
  kind?: StepKind,
): Reply<Name> {
  try {
    const method = dialect[question] as ((reading: SpanReading, kind?: StepKind) => Reply<Name>) | undefined
    return method?.(reading, kind)
  } catch (error) {
    reading.failures.push({ dialect: dialect.name, message: String(error) })
    return undefined
  }
}

/** True when the rule holds for a dialect of the span. `context` is for a rule that depends on it. */
export function someDialect(reading: SpanReading, rule: Rule, context?: UsageContext): boolean {
  for (const { dialect, bit } of reading.dialects.withRule[rule]) {
    if ((reading.signs & bit) === 0) continue
    const holds = dialect[rule] as true | ((reading: SpanReading, context?: UsageContext) => boolean)
    if (holds === true || holds(reading, context)) return true
  }
  return false
}
