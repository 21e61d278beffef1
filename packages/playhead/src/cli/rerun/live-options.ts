import type { Lane } from '@playhead/model'
import { Budget } from '@playhead/model'
import type { OptionSpecs, OptionValues } from '../arguments/command.ts'
import { parseCount } from '../arguments/option-values.ts'
import { UsageError } from '../terminal/cli-error.ts'

/** Options of every command that makes live calls. */
export const liveOptions = {
  times: { type: 'text', value: 'n', summary: 'Run it this many times (default 1)' },
  concurrency: { type: 'text', value: 'n', summary: 'Runs at the same time (default 2)' },
  budget: {
    type: 'text',
    value: 'amount',
    summary: 'The most that all live calls may cost, for example 1usd; what could cost more is not made',
  },
  'allow-writes': {
    type: 'list',
    value: 'names',
    summary: 'Actions that may write, separated by commas; all others that may write are stubbed',
  },
} as const satisfies OptionSpecs

export type LiveSettings = {
  times: number
  concurrency: number
  budget: Budget | undefined
  allowWrites: string[]
}

const DEFAULT_CONCURRENCY = 2

export function readLiveOptions(options: OptionValues<typeof liveOptions>): LiveSettings {
  const { times, concurrency, budget } = options
  return {
    times: times === undefined ? 1 : parseCount('--times', times),
    concurrency: concurrency === undefined ? DEFAULT_CONCURRENCY : parseCount('--concurrency', concurrency),
    budget: budget === undefined ? undefined : new Budget(parseDollars(budget)),
    allowWrites: (options['allow-writes'] ?? []).flatMap((names) =>
      names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    ),
  }
}

function parseDollars(text: string): number {
  const [, amount] = /^\$?(\d+(?:\.\d+)?|\.\d+)\s*(?:usd|dollars?|\$)?$/i.exec(text.trim()) ?? []
  if (amount === undefined)
    throw new UsageError(`--budget can't be "${text}". Use US dollars: 1usd, 0.50, $2`)
  return Number(amount)
}

/** `--live model`, `--live tools`, `--live model,tools`. Without it, everything comes from the tape. */
export function readLane(live: readonly string[] | undefined): Lane {
  if (live === undefined) return 'tape'
  const sides = new Set(live.flatMap((text) => text.split(',')).map((side) => side.trim()))
  for (const side of sides)
    if (side !== 'model' && side !== 'tools')
      throw new UsageError(`--live can't be "${side}". Allowed values: model, tools, or model,tools`)
  if (sides.size === 2) return 'live'
  return sides.has('model') ? 'live-model' : 'live-tools'
}
