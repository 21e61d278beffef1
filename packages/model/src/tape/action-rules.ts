import { compareValues, type TextComparison } from '../align/compare-values.ts'
import type { Lane } from '../session/rerun.ts'
import type { Effect } from '../session/step.ts'
import type { ActionEntry } from './tape-entry.ts'

/** Overrules whether an action is run again or answered. */
export type Replay = 'run' | 'serve'

/** What the code and the configuration declare about an action; the configuration wins. */
export type ActionRules = {
  effects?: Readonly<Record<string, Effect>>
  replay?: Readonly<Record<string, Replay>>
  /** Writes that a live run may carry out. */
  allowWrites?: readonly string[]
}

export type DeclaredAction = { name: string; effect?: Effect | undefined; replay?: Replay | undefined }

/**
 * What happens to an action: `serve` its recorded result, `run` it because what is inside it is answered, run it `live`
 * because it only reads, or `stub` it because it may write.
 */
export type ActionPlan = 'serve' | 'run' | 'live' | 'stub'

export function planAction(
  { name, ...declared }: DeclaredAction,
  { isLive, isContainer }: { isLive: boolean; isContainer: boolean },
  { effects = {}, replay = {}, allowWrites = [] }: ActionRules,
): ActionPlan {
  const overruled = replay[name] ?? declared.replay
  if (overruled !== undefined) return overruled
  const effect = effects[name] ?? declared.effect
  if (isContainer && effect !== 'write') return 'run'
  if (!isLive) return 'serve'
  // Nobody said that it only reads, so it may send a mail.
  return effect === 'read' || allowWrites.includes(name) ? 'live' : 'stub'
}

/** Which side of a run is live: the model, the tools, both or none. A fork is live from its step on. */
export function liveSides(lane: Lane, isForked: boolean): { model: boolean; tools: boolean } {
  const isLive = lane === 'live' || (lane === 'fork' && isForked)
  return { model: isLive || lane === 'live-model', tools: isLive || lane === 'live-tools' }
}

/**
 * The recorded call whose result stands in for a call that must not be made: the one with the fewest other arguments,
 * and of those one that succeeded, the earliest first.
 */
export function pickStub(
  entries: readonly ActionEntry[],
  given: unknown,
  comparison: TextComparison,
): ActionEntry | undefined {
  const scored = entries.map((entry) => ({
    entry,
    score: compareValues(entry.arguments, given, comparison, MAX_COUNTED).length,
  }))
  const rank = ({ entry, score }: (typeof scored)[number]) =>
    score === 0 || entry.step.status !== 'error' ? score : score + MAX_COUNTED
  return scored.toSorted((one, other) => rank(one) - rank(other))[0]?.entry
}

const MAX_COUNTED = 100
