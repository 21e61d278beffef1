import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { formatBytes, parseFilter, shortSessionId, toRecording } from '@playhead/model'
import { renderReplay } from '../../report/write-report.ts'
import { defineCommand, type GlobalOptions } from '../arguments/command.ts'
import { checkChoice } from '../arguments/option-values.ts'
import { Api } from '../client/api.ts'
import { saveFile } from '../client/download.ts'
import { isRecordingFile, readRecordingFile } from '../client/read-session.ts'
import { findSessionId } from '../client/sessions.ts'
import { readSettings } from '../client/settings.ts'
import { UsageError } from '../terminal/cli-error.ts'
import { escapeJson } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Export formats: the API resource of each, and how the names of its files end. */
const formats = new Map([
  ['json', { resource: 'recording', ending: '.json' }],
  ['html', { resource: 'recording.html', ending: '.html' }],
  ['otlp', { resource: 'recording.otlp', ending: '.otlp.json' }],
])
const tableFormats = ['parquet', 'csv', 'jsonl']
const tables = ['sessions', 'steps', 'spans']
const STDOUT = '-'

export const exportCommand = defineCommand({
  name: 'export',
  arguments: ['session or file…'],
  summary: 'Export a session, or all that match a filter, as a file',
  details: `<session or file> is an id or its first digits, "last", "last-failed", or a recording.
Formats: json is a recording that "playhead show" reads without a server, html is the replay page as a
single file for any browser, otlp is the original spans for any OpenTelemetry backend, which only the
server has.
With --where, all sessions that match a filter are exported: as a table of sessions or of steps (parquet, csv, jsonl),
or as spans (jsonl, one session a line), which "playhead import" reads. --where "" exports everything.`,
  options: {
    format: {
      type: 'text',
      value: 'format',
      summary: `${[...formats.keys()].join(', ')}; with --where ${tableFormats.join(', ')} (default: as the name of the file ends, or json)`,
    },
    where: {
      type: 'text',
      value: 'filter',
      summary: 'All sessions that match: "status:fail tag:support from:7d"',
    },
    of: { type: 'text', value: 'what', summary: 'With --where: sessions, steps or spans (default sessions)' },
    output: {
      type: 'text',
      short: 'o',
      value: 'file',
      summary: 'File to write; - is stdout (default: the id of the session, as in s_1a2b3c4d.json)',
    },
  },
  examples: [
    ['playhead export last-failed', 'Attach a failure to a bug report'],
    ['playhead export last-failed -o failure.html', 'Share a replay'],
    ['playhead export .playhead/run/s_1a2b3c4d.jsonl --format html', 'Without a server'],
    [
      'playhead export --where "status:fail from:7d" -o failed.parquet',
      'A table of sessions for DuckDB or pandas',
    ],
    ['playhead export --where "tag:support" --of spans -o support.jsonl', 'Move sessions to another server'],
    ['playhead export s_1a2b3c4d --format otlp -o - | gzip > spans.json.gz', 'Pipe the spans as received'],
  ],
  async run({ options, globals, positionals, terminal }) {
    if (options.where !== undefined) {
      if (positionals.length > 0) throw new UsageError('Name a session, or pass --where, not both.')
      return exportMatching(options.where, options, { globals, terminal })
    }
    if (options.of !== undefined) throw new UsageError('--of goes with --where.')
    const [source] = positionals
    if (source === undefined || positionals.length > 1)
      throw new UsageError('Name one session, or pass --where. See: playhead export --help')
    const format = options.format ?? formatOf(options.output ?? '')
    checkChoice('format', format, [...formats.keys()])
    const { id, content } = isRecordingFile(source)
      ? await readRecording(source, format)
      : await readServer(
          source,
          format,
          await Api.connect(readSettings(globals, terminal.environment), 'read'),
        )
    if (options.output === STDOUT) return writeOut(content, format !== 'html', terminal)
    const path = options.output ?? `${shortSessionId(id)}${formats.get(format)!.ending}`
    if (resolve(path) === resolve(source))
      throw new UsageError(`${path} is the recording itself. Pass another name with -o.`)
    const size = await saveFile(path, content)
    terminal.note(`Saved ${shortSessionId(id)} to ${path} (${formatBytes(size)}).`)
  },
})

type Target = { globals: GlobalOptions; terminal: Terminal }

async function exportMatching(
  where: string,
  options: { of?: string; format?: string; output?: string },
  { globals, terminal }: Target,
): Promise<void> {
  const { terms, parameters } = parseFilter(where)
  const problem = terms.find((term) => term.problem !== undefined)?.problem
  if (problem !== undefined) throw new UsageError(problem)
  const { of = 'sessions', output } = options
  checkChoice('of', of, tables)
  const ending = tableFormats.find((name) => output?.toLowerCase().endsWith(`.${name}`))
  const format = options.format ?? ending ?? (of === 'spans' ? 'jsonl' : 'parquet')
  checkChoice('format', format, tableFormats)
  const api = await Api.connect(readSettings(globals, terminal.environment), 'read')
  const content = api.stream('/api/export', { query: { ...parameters, of, format } })
  if (output === STDOUT) return writeOut(content, false, terminal)
  const path = output ?? `${of}.${format}`
  const size = await saveFile(path, content)
  terminal.note(`Saved ${of} to ${path} (${formatBytes(size)}).`)
}

/** The most specific ending comes last. */
function formatOf(path: string): string {
  const endings = [...formats].filter(([, { ending }]) => path.toLowerCase().endsWith(ending))
  return endings.at(-1)?.[0] ?? 'json'
}

type Exported = { id: string; content: AsyncIterable<Uint8Array> }

async function readServer(source: string, format: string, api: Api): Promise<Exported> {
  const id = await findSessionId(api, source)
  return { id, content: api.stream(`/api/sessions/${id}/${formats.get(format)!.resource}`) }
}

async function readRecording(path: string, format: string): Promise<Exported> {
  if (format === 'otlp')
    throw new UsageError(
      `${path} is a recording, and only the server has the original spans. Use json or html.`,
    )
  const session = await readRecordingFile(path)
  const recording = toRecording(session, new Date().toISOString())
  const text = format === 'html' ? await renderReplay([recording]) : JSON.stringify(recording)
  return { id: session.session.id, content: Readable.from([Buffer.from(text)]) }
}

/** JSON is escaped for terminals and logs, which changes no value; HTML stays as it is. */
async function writeOut(
  content: AsyncIterable<Uint8Array>,
  isJson: boolean,
  { stdout, isInteractive }: Terminal,
): Promise<void> {
  for await (const chunk of isJson ? escapeStream(content) : content) {
    if (!stdout.write(chunk)) await new Promise((resolve) => stdout.once('drain', resolve))
  }
  if (isInteractive) stdout.write('\n')
}

/** The beginning of a command to the build service, at the end of a chunk. */
const cutCommand = /#{1,2}[\w.-]{0,60}$/

async function* escapeStream(content: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of content) {
    const text = rest + decoder.decode(chunk, { stream: true })
    rest = cutCommand.exec(text)?.[0] ?? ''
    yield escapeJson(text.slice(0, text.length - rest.length))
  }
  yield escapeJson(rest)
}
