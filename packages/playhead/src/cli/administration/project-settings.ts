import { countOf, formatBytes, formatCount, type PriceOverride } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { readSettings } from '../client/settings.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import { renderTable, type Column } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

type Project = {
  id: string
  retentionDays: number | null
  dailySpans: number | null
  dailyBytes: number | null
  priceOverrides: PriceOverride[]
}

type Usage = { spans: number; bytes: number }

const json = { type: 'flag', summary: "Print the API's response" } as const
const MAX_DAYS = 36_500

export const retentionCommand = defineCommand({
  name: 'retention',
  arguments: ['days or forever…'],
  summary: 'Show or set how long a project keeps its sessions',
  details:
    'Sessions older than that are deleted, within an hour. Without an argument, shows the current setting.',
  options: { json },
  examples: [
    ['playhead retention', 'How long sessions are kept'],
    ['playhead retention 30', 'Keep the last 30 days'],
    ['playhead retention forever --project shop', 'Keep everything in one project'],
  ],
  async run({ options, globals, positionals, terminal }) {
    if (positionals.length > 1)
      throw new UsageError(`Unexpected argument "${positionals[1]}".\nFor usage: playhead retention --help`)
    const [typed] = positionals
    const days = typed === undefined ? undefined : readDays(typed)
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const project =
      days === undefined ? await readProject(api) : await changeProject(api, { retentionDays: days })
    if (options.json === true) return terminal.print(printableJson(project, 2))
    const { id, retentionDays } = project
    const kept = retentionDays === null ? 'forever' : countOf(retentionDays, 'day')
    if (days === undefined) terminal.print(kept)
    else
      terminal.note(
        `Project ${plainLine(id)} keeps its sessions ${retentionDays === null ? kept : `for ${kept}`}.`,
      )
  },
})

function readDays(typed: string): number | null {
  if (typed === 'forever') return null
  const days = /^\d+$/.test(typed) ? Number(typed) : 0
  if (days < 1 || days > MAX_DAYS)
    throw new UsageError(
      `"${typed}" is not a number of days. Examples: playhead retention 30, playhead retention forever`,
    )
  return days
}

export const quotaCommand = defineCommand({
  name: 'quota',
  summary: 'Show or set how much a project may send a day',
  details: `Days begin at midnight UTC. A project that has reached its quota gets 429 until then, and its SDKs keep what they can.
Without an option, shows what was sent today.`,
  options: {
    spans: {
      type: 'text',
      value: 'number',
      summary: 'Spans and log records a day, as 1000000 or 2m; or none',
    },
    bytes: { type: 'text', value: 'size', summary: 'Bytes of requests a day, uncompressed, as 5gb; or none' },
    json,
  },
  examples: [
    ['playhead quota', 'What was sent today'],
    ['playhead quota --spans 2m --bytes 5gb', 'Two million spans and five gigabytes a day'],
    ['playhead quota --spans none --project shop', 'No limit on spans for one project'],
  ],
  async run({ options, globals, terminal }) {
    const change = {
      ...(options.spans !== undefined && { dailySpans: readAmount('spans', options.spans) }),
      ...(options.bytes !== undefined && { dailyBytes: readAmount('bytes', options.bytes) }),
    }
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    if (Object.keys(change).length > 0) await changeProject(api, change)
    const project = await readProject(api)
    const { spans, bytes } = await api.json<Usage>(`/api/projects/${encodeURIComponent(project.id)}/usage`)
    const { id, dailySpans, dailyBytes } = project
    if (options.json === true)
      return terminal.print(printableJson({ project: id, spans, bytes, dailySpans, dailyBytes }, 2))
    const of = (quota: string | undefined) => (quota === undefined ? '(no quota)' : `of ${quota}`)
    terminal.print(
      [
        `Project ${plainLine(id)}, today (UTC):`,
        `  spans  ${formatCount(spans)} ${of(dailySpans === null ? undefined : formatCount(dailySpans))}`,
        `  bytes  ${formatBytes(bytes)} ${of(dailyBytes === null ? undefined : formatBytes(dailyBytes))}`,
      ].join('\n'),
    )
  },
})

const multiples: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1e3,
  kb: 1e3,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  tb: 1e12,
}

function readAmount(option: string, text: string): number | null {
  if (text.toLowerCase() === 'none') return null
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text) ?? []
  const multiple = multiples[unit.toLowerCase()]
  if (digits === undefined || multiple === undefined)
    throw new UsageError(`--${option} can't be "${text}". Examples: 1000000, 2m, 5gb, none`)
  return Math.round(Number(digits) * multiple)
}

export const pricesListCommand = defineCommand({
  name: 'prices list',
  summary: "List a project's own prices, which come before the built-in ones",
  options: { json },
  examples: [['playhead prices list', 'US dollars per million tokens']],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const { priceOverrides } = await readProject(api)
    if (options.json === true) return terminal.print(printableJson({ priceOverrides }, 2))
    if (priceOverrides.length === 0)
      return terminal.note(
        'This project uses the built-in prices. Set one with: playhead prices set <model> --input 2.5 --output 10',
      )
    printPrices(priceOverrides, terminal)
  },
})

/** Options of `prices set`, and the field of the API for each. */
const rates = {
  input: 'inputPerMillion',
  output: 'outputPerMillion',
  'cache-read': 'cacheReadPerMillion',
  'cache-write': 'cacheWritePerMillion',
  'cache-write-1h': 'cacheWrite1hPerMillion',
  'audio-input': 'audioInputPerMillion',
  'audio-output': 'audioOutputPerMillion',
  'image-input': 'imageInputPerMillion',
  reasoning: 'reasoningPerMillion',
  request: 'perRequest',
} as const satisfies Record<string, keyof PriceOverride>

const rate = (summary: string) => ({ type: 'text', value: 'usd', summary }) as const

export const pricesSetCommand = defineCommand({
  name: 'prices set',
  arguments: ['model'],
  summary: 'Set the price of a model in a project',
  details: `Prices are in US dollars per million tokens. A name that ends with * is for all models that begin like it. Replaces
the price of the same model, provider and day. New calls use it; for stored ones, run: playhead reprice`,
  options: {
    input: rate('Input tokens (required)'),
    output: rate('Output tokens (required)'),
    'cache-read': rate('Input tokens read from the cache'),
    'cache-write': rate('Input tokens written to the cache'),
    'cache-write-1h': rate('Input tokens written to the one-hour cache'),
    'audio-input': rate('Audio input tokens'),
    'audio-output': rate('Audio output tokens'),
    'image-input': rate('Image input tokens'),
    reasoning: rate('Reasoning tokens, if not as output'),
    request: rate('Each call, in addition to its tokens'),
    provider: { type: 'text', value: 'name', summary: 'Only for calls to this provider' },
    from: {
      type: 'text',
      value: 'day',
      summary: 'First day of this price, as 2026-01-31; earlier calls keep theirs',
    },
    json,
  },
  examples: [
    ['playhead prices set my-finetune --input 3 --output 12', 'A model without a built-in price'],
    ['playhead prices set "llama-3*" --input 0 --output 0', 'Models that you run yourself'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const model = positionals[0] ?? ''
    if (options.input === undefined || options.output === undefined)
      throw new UsageError('A price needs --input and --output. For usage: playhead prices set --help')
    const price: Record<string, string | number> = { model }
    for (const [option, field] of Object.entries(rates)) {
      const text = options[option as keyof typeof rates]
      if (text !== undefined) price[field] = readRate(option, text)
    }
    if (options.provider !== undefined) price.provider = options.provider
    if (options.from !== undefined) price.from = options.from
    const changed = price as unknown as PriceOverride
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const { priceOverrides } = await readProject(api)
    const others = priceOverrides.filter((other) => !isSamePrice(other, changed))
    const project = await changeProject(api, { priceOverrides: [...others, changed] })
    if (options.json === true) return terminal.print(printableJson(project, 2))
    terminal.note(
      `Set the price of ${plainLine(model)} in project ${plainLine(project.id)}. To apply it to stored sessions: playhead reprice`,
    )
  },
})

export const pricesRemoveCommand = defineCommand({
  name: 'prices remove',
  arguments: ['model'],
  summary: "Remove a model's own prices, so that the built-in one applies again",
  options: { json },
  examples: [['playhead prices remove my-finetune', 'Then: playhead reprice']],
  async run({ options, globals, positionals, terminal }) {
    const model = positionals[0] ?? ''
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const { priceOverrides } = await readProject(api)
    const others = priceOverrides.filter((price) => price.model !== model)
    if (others.length === priceOverrides.length)
      throw new CliError(`There is no own price for "${model}". To see all: playhead prices list`)
    const project = await changeProject(api, { priceOverrides: others })
    if (options.json === true) return terminal.print(printableJson(project, 2))
    terminal.note(
      `Removed the price of ${plainLine(model)} from project ${plainLine(project.id)}. To apply it to stored sessions: playhead reprice`,
    )
  },
})

function isSamePrice(left: PriceOverride, right: PriceOverride): boolean {
  return left.model === right.model && left.provider === right.provider && left.from === right.from
}

function readRate(option: string, text: string): number {
  const usd = /^\$?\d*\.?\d+$/.test(text) ? Number(text.replace('$', '')) : Number.NaN
  if (Number.isNaN(usd)) throw new UsageError(`--${option} can't be "${text}". Examples: 2.5, 0.075, 0`)
  return usd
}

const priceColumns: Column<PriceOverride>[] = [
  { title: 'Model', text: ({ model }) => plainLine(model), minWidth: 16 },
  { title: 'Provider', text: ({ provider = '' }) => plainLine(provider), dropOrder: 2 },
  { title: 'Input', text: ({ inputPerMillion }) => `$${inputPerMillion}`, align: 'right' },
  { title: 'Output', text: ({ outputPerMillion }) => `$${outputPerMillion}`, align: 'right' },
  { title: 'Other', text: otherRates, dropOrder: 1 },
  { title: 'From', text: ({ from = '' }) => plainLine(from) },
]

function otherRates(price: PriceOverride): string {
  return Object.entries(rates)
    .filter(([option, field]) => option !== 'input' && option !== 'output' && price[field] !== undefined)
    .map(([option, field]) => `${option} $${price[field]}`)
    .join(', ')
}

function printPrices(prices: readonly PriceOverride[], terminal: Terminal): void {
  if (terminal.isInteractive) return terminal.print(renderTable(priceColumns, prices, terminal))
  for (const price of prices)
    terminal.print(
      [
        price.model,
        price.provider ?? '',
        String(price.inputPerMillion),
        String(price.outputPerMillion),
        otherRates(price),
        price.from ?? '',
      ]
        .map(plainLine)
        .join('\t'),
    )
}

async function readProject(api: Api): Promise<Project> {
  const { projects } = await api.json<{ projects: Project[] }>('/api/projects')
  const id = await projectId(api)
  const project = projects.find((one) => one.id === id)
  if (project === undefined)
    throw new CliError(`There is no project "${id}". Projects: ${projects.map((one) => one.id).join(', ')}.`)
  return project
}

async function changeProject(api: Api, body: Partial<Omit<Project, 'id'>>): Promise<Project> {
  return api.json<Project>(`/api/projects/${encodeURIComponent(await projectId(api))}`, {
    method: 'PATCH',
    body,
  })
}

/** The project that was asked for, otherwise the key's. */
async function projectId(api: Api): Promise<string> {
  if (api.settings.project !== undefined) return api.settings.project
  return (await api.json<{ project?: string }>('/api/me')).project ?? 'default'
}
