import { parseArgs } from 'node:util'

export const suites = [
  'ingest',
  'hot-path',
  'engine-path',
  'visibility',
  'query',
  'storage',
  'cold-start',
  'sdk',
  'dashboard',
  'dashboard-list',
  'testing',
  'redaction',
  'siege',
  'viewers',
  'attribution',
  'findings',
  'watch',
  'peers',
] as const
export type Suite = (typeof suites)[number]

export type Options = {
  suite: Suite
  /** How many spans the store is filled with before queries are measured. */
  spans: number
  /** The length of the main phase of the ingest suite; the other phases are shorter. */
  seconds: number
  isJson: boolean
  /** Whether to save the figures in bench/results and rewrite docs/benchmarks.md. */
  isWritten: boolean
  /** A folder for the data, which is kept and reused; undefined for a temporary one. */
  data: string | undefined
}

export const USAGE = `npm run bench -- <suite> [<suite> …] [options]        (all: every suite in turn)

  ingest          spans per second, acknowledgement, visibility, memory, disk, start             about 4 minutes
  hot-path        processor time from the bytes of a request to its rows, by stage               about 1 minute
  engine-path     the engine's processor time for a span: insert, merge, words                   about 1 minute
  visibility      from the acknowledgement of a session until it is listed and can be opened     about 1 minute
  query           lists, filters, statistics, text search, opening sessions                      about 4 minutes
  storage         bytes on disk per span as the store grows, from 100,000 to --spans             about 4 minutes
  cold-start      npm start to the first response, and memory                                    about 1 minute
  sdk             the cost of recording and capture in the agent's process                       about 3 minutes
  dashboard       dragging over 10,000 steps and opening 100,000 steps, in a browser             about 2 minutes
  dashboard-list  the list of a million sessions, in a browser                                   about 5 minutes
  testing         500 agent tests with the reporter, and their report                            about 1 minute
  redaction       planted secrets: how many leave the agent's process, and the cost of redaction about 3 minutes
  siege           1,000 connections without a key: what they cost in memory and in acknowledgements  --seconds, and 2 minutes
  viewers         500 live viewers: what they cost in acknowledgements                           about 2 minutes
  attribution     how often the first suspect is the step that people blame, on the labelled runs in --data  about 1 minute
  findings        planted faults, healthy sessions, and the cost of findings in a session of 10,000 steps  about 5 minutes
  watch           ingest with 100 rules, previews of monitors, lists and statistics of scores    about 10 minutes
  peers           the same corpus with Phoenix, MLflow and a Collector, where available          about 10 minutes

  --spans 1000000   size of the store for query and storage, number of sessions for watch (filling 10000000 takes about 40 minutes);
                    the default for peers is 20000
  --seconds 60      length of the main phase of ingest and siege
  --data folder     keep the filled store in this folder and reuse it; for attribution, the folder with the labelled runs
                    (docs/findings.md says where they come from)
  --json            print JSON instead of a table
  --write           save the figures in bench/results and generate docs/benchmarks.md from all saved figures
                    (without a suite: only generate the page)
  --help            show this help`

/** Parses the command line. Returns one entry for each named suite, or describes what is wrong. */
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
  const everywhere = suites.filter((suite) => suite !== 'attribution')
  const named = positionals.includes('all') ? everywhere : positionals.map(findSuite)
  if (named.length === 0 && values.write) return []
  if (named.length === 0 || named.includes(undefined)) return { problem: `Name a suite.\n\n${USAGE}` }
  if (named.includes('attribution') && values.data === undefined)
    return { problem: 'attribution needs --data <folder>: labelled runs, which docs/findings.md describes.' }
  const seconds = Number(values.seconds)
  const spans = values.spans === undefined ? undefined : Number(values.spans)
  if (spans !== undefined && (!Number.isInteger(spans) || spans < 20_000))
    return { problem: `--spans must be a whole number of at least 20000, not "${values.spans}".` }
  if (!(seconds >= 5))
    return { problem: `--seconds must be a number of at least 5, not "${values.seconds}".` }
  const rest = { seconds, isJson: values.json, isWritten: values.write, data: values.data }
  return named.flatMap((suite) =>
    suite === undefined ? [] : [{ suite, spans: spans ?? defaultSpans(suite), ...rest }],
  )
}

/** Peers are slower, so they get a smaller store. */
function defaultSpans(suite: Suite): number {
  return suite === 'peers' ? 20_000 : 1_000_000
}

function findSuite(name: string): Suite | undefined {
  return suites.find((suite) => suite === name)
}
