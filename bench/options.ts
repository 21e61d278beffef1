import { parseArgs } from 'node:util'

const suites = ['ingest', 'query', 'dashboard-list'] as const
type Suite = (typeof suites)[number]

export type Options = {
  suite: Suite
  /** How many spans the store is filled with before it is asked. */
  spans: number
  /** How long the main phase of the ingest suite lasts; the others are shorter. */
  seconds: number
  isJson: boolean
  /** A folder that is kept, and used again when it is already filled; undefined: a temporary one. */
  data: string | undefined
}

const USAGE = `npm run bench -- ingest|query|dashboard-list [--spans 1000000] [--seconds 60] [--json] [--data folder]`

/** Reads the command line; a mistake in it is returned as a sentence. */
export function readOptions(argv: readonly string[]): Options | { problem: string } {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      spans: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '60' },
      json: { type: 'boolean', default: false },
      data: { type: 'string' },
    },
  })
  const suite = suites.find((name) => name === positionals[0])
  if (suite === undefined) return { problem: `Which suite? ${USAGE}` }
  const [spans, seconds] = [Number(values.spans), Number(values.seconds)]
  if (!Number.isInteger(spans) || spans < 20_000)
    return { problem: `--spans must be a whole number from 20000 on, not "${values.spans}".` }
  if (!(seconds >= 5)) return { problem: `--seconds must be a number from 5 on, not "${values.seconds}".` }
  return { suite, spans, seconds, isJson: values.json, data: values.data }
}
