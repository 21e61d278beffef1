import { createRedactor } from '@playhead/model'
import {
  plantForRules,
  plantInnocents,
  plantSecrets,
  userRules,
  type Planted,
} from '../../packages/playhead/test/redaction/corpus.ts'
import { findLeaks } from '../../packages/playhead/test/redaction/find-leaks.ts'
import { CALLERS_KEY, sendPlanted } from '../../packages/playhead/test/redaction/send-planted.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { targets } from '../harness/targets.ts'

const SEED = 1
const ROUNDS = 12
const INNOCENT_ROUNDS = 120
const MEGABYTE = 1_000_000

/** Counts how many planted secrets leave the process, in any carrier, and measures the cost of redaction. */
export async function runRedactionSuite(_options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const planted = plantSecrets(SEED, ROUNDS)
  const sent = await sendPlanted(planted, {
    isRefused: false,
    onProgress: (share) => progress.show('sending secrets to a collector', share),
  })
  progress.show('searching for leaks')
  const leaked = findLeaks(planted, [...sent.wire, ...sent.recordings])
  const spooled = [...planted, ...plantForRules(SEED, ROUNDS)]
  const waiting = await sendPlanted(spooled, {
    isRefused: true,
    redact: userRules,
    onProgress: (share) => progress.show('sending secrets to a collector that refuses them', share),
  })
  progress.show('searching for leaks on disk')
  for (const item of findLeaks(spooled, waiting.spool)) leaked.add(item)
  const own = [...sent.wire, ...sent.recordings, ...waiting.spool].filter((text) =>
    text.includes(CALLERS_KEY),
  )
  return {
    suite: 'redaction',
    machine,
    figures: [
      ...familyFigures(spooled, leaked),
      {
        what: 'API key in the headers of the request itself',
        figure: own.length,
        unit: 'leaked',
        target: targets.leakedSecrets,
        note: `sent with every model request; searched for in ${sizeOf([...sent.wire, ...sent.recordings, ...waiting.spool])} of requests, recordings and spool`,
      },
      ...(await innocentFigures(progress)),
      ...costFigures(planted),
    ],
  }
}

function familyFigures(planted: readonly Planted[], leaked: ReadonlySet<Planted>): Figure[] {
  return [...Map.groupBy(planted, ({ family }) => family)].map(([family, items]) => {
    const count = items.filter((item) => leaked.has(item)).length
    const carriers = new Set(items.map(({ carrier }) => carrier)).size
    return {
      what: family,
      figure: count,
      unit: 'leaked',
      target: targets.leakedSecrets,
      note: `${items.length} planted in ${carriers} carriers, ${items.length - count} caught`,
    }
  })
}

/** Texts that are not secrets must arrive unchanged. */
async function innocentFigures(progress: Progress): Promise<Figure[]> {
  const innocents = plantInnocents(SEED, INNOCENT_ROUNDS)
  progress.show('sending texts that only look like secrets')
  const { wire } = await sendPlanted(innocents, { isRefused: false })
  const sent = wire.join('\n')
  return [...Map.groupBy(innocents, ({ kind }) => kind)].map(([kind, items]) => ({
    what: `not a secret: ${kind}`,
    figure: items.filter(({ text }) => !sent.includes(text)).length,
    unit: 'altered',
    target: targets.alteredInnocents,
    note: `of ${items.length}`,
  }))
}

/** Texts that try to make regular expressions slow. Each is repeated up to a megabyte. */
const hostile = [
  'eyJ-', 'eyJaaaaaaaa.', '\\', 'sk-', 'xai-', '4 ', '4111 1111 1111 1112 ', '-----BEGIN PRIVATE KEY-----"', '://a:',
  'Bearer ', 'password:', '"password":"', '\\"password\\":\\"', '"password":["a",', 'password = ', '"token":\'"', ':=',
] // prettier-ignore

function costFigures(planted: readonly Planted[]): Figure[] {
  const redactor = createRedactor()
  const redact = (text: string) => redactor.text(text, 'text')
  const secrets = planted.map(({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)))
  const prose =
    'I was charged twice: the invoice of March (no. 4711) says 49 EUR, and so does that of April. '
  const messages = JSON.stringify([
    {
      role: 'user',
      parts: [{ type: 'text', content: 'Look it up.\nThen tell me: is "it" paid?' }],
      id: 'call_1',
    },
    { input_tokens: 12, url: 'https://api.example.com/v1/items?page=2', at: 1_716_239_022_123, ok: true },
  ])
  const worst = hostile
    .map((part) => ({ part, ms: timeOf(redact, `${filled(part)}key=`) }))
    .toSorted((left, right) => right.ms - left.ms)[0]!
  return [
    { what: 'time for a megabyte of prose', figure: timeOf(redact, filled(prose)), unit: 'ms' },
    { what: 'time for a megabyte of messages as JSON', figure: timeOf(redact, filled(messages)), unit: 'ms' },
    {
      what: 'time for a megabyte of planted secrets',
      figure: timeOf(redact, filled(secrets.join('\n'))),
      unit: 'ms',
    },
    {
      what: `time for the slowest of ${hostile.length} hostile megabytes`,
      figure: worst.ms,
      unit: 'ms',
      target: targets.hostileMegabyte,
      note: `${JSON.stringify(worst.part)} repeated`,
    },
  ]
}

function filled(part: string): string {
  return part.repeat(Math.ceil(MEGABYTE / part.length)).slice(0, MEGABYTE)
}

/** The fastest of several rounds, because other programs only ever make one slower. */
function timeOf(redact: (text: string) => string, text: string): number {
  let best = Infinity
  for (let round = 0; round < 5; round += 1) {
    const startedAtMs = performance.now()
    redact(text)
    best = Math.min(best, performance.now() - startedAtMs)
  }
  return best
}

function sizeOf(texts: readonly string[]): string {
  return `${Math.round(texts.reduce((sum, text) => sum + text.length, 0) / MEGABYTE)} MB`
}
