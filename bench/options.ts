import { parseArgs } from 'node:util'

export const suites = [
  'ingest',
  'query',
  'storage',
  'cold-start',
  'sdk',
  'dashboard',
  'dashboard-list',
  'testing',
  'redaction',
  'peers',
] as const
export type Suite = (typeof suites)[number]

export type Options = {
  suite: Suite
  /** How many spans the store is filled with before it is asked. */
  spans: number
  /** How long the main phase of the ingest suite lasts; the others are shorter. */
  seconds: number
  isJson: boolean
  /** Whether the figures are kept in bench/results and docs/benchmarks.md is written anew. */
  isWritten: boolean
  /** A folder that is kept, and used again when it is already filled; undefined: a temporary one. */
  data: string | undefined
}

export const USAGE = `npm run bench -- <suite> [<suite> …] [options]        (all: every suite, one after the other)

  ingest          spans a second, acknowledgement, visibility, memory, bytes, start              about 4 minutes
  query           lists, filters, statistics, text search, opening sessions                      about 4 minutes
  storage         bytes on disk per span, as the store grows: 100,000, then --spans              about 4 minutes
  cold-start      from npm start to the first answer, and memory                                 about 1 minute
  sdk             what recording and capture cost the agent's process                            about 3 minutes
  dashboard       dragging over 10,000 steps, opening 100,000, in a browser                      about 2 minutes
  dashboard-list  the list of a million sessions, in a browser                                   about 5 minutes
  testing         500 agent tests with the reporter, and the report that it makes                about 1 minute
  redaction       planted secrets: which leave the agent's process, and what looking costs       about 3 minutes
  peers           the same through Phoenix, MLflow and a Collector, where they are to be had     about 10 minutes

  --spans 1000000   size of the store for query and storage (10000000 takes about 40 minutes to fill);
                    20000 for peers
  --seconds 60      length of the main phase of ingest
  --data folder     keep the filled store there, and use it again
  --json            JSON instead of a table
  --write           keep the figures in bench/results and write docs/benchmarks.md from all that are there
                    (without a suite: only writes the page)
  --help            this`

/** Reads the command line; one entry for each suite that was named. A mistake in it is returned as a sentence. */
export function readOptions(argv: readonly string[]): Options[] | { problem: string } | { help: string } {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      spans: { type: 'string' },
      seconds: { type: 'string', default: '60' },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      data: { type: 'string' },
    },
  })
  if (values.help) return { help: USAGE }
  const named = positionals.includes('all') ? [...suites] : positionals.map(findSuite)
  if (named.length === 0 && values.write) return []
  if (named.length === 0 || named.includes(undefined)) return { problem: `Which suite?\n\n${USAGE}` }
  const seconds = Number(values.seconds)
  const spans = values.spans === undefined ? undefined : Number(values.spans)
  if (spans !== undefined && (!Number.isInteger(spans) || spans < 20_000))
    return { problem: `--spans must be a whole number from 20000 on, not "${values.spans}".` }
  if (!(seconds >= 5)) return { problem: `--seconds must be a number from 5 on, not "${values.seconds}".` }
  const rest = { seconds, isJson: values.json, isWritten: values.write, data: values.data }
  return named.flatMap((suite) =>
    suite === undefined ? [] : [{ suite, spans: spans ?? defaultSpans(suite), ...rest }],
  )
}

/** What others take in minutes is less. */
function defaultSpans(suite: Suite): number {
  return suite === 'peers' ? 20_000 : 1_000_000
}

function findSuite(name: string): Suite | undefined {
  return suites.find((suite) => suite === name)
}
