import { Readable } from 'node:stream'
import { formatBytes, shortSessionId, toRecording } from '@playhead/model'
import { renderReplay } from '../../report/write-report.ts'
import { defineCommand } from '../arguments/command.ts'
import { checkChoice } from '../arguments/option-values.ts'
import { Api } from '../client/api.ts'
import { saveFile } from '../client/download.ts'
import { isRecordingFile, readRecordingFile } from '../client/read-session.ts'
import { findSessionId } from '../client/sessions.ts'
import { readSettings } from '../client/settings.ts'
import { UsageError } from '../terminal/cli-error.ts'
import { escapeJson } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Export formats and the API resource of each. */
const formats = new Map([
  ['json', 'recording'],
  ['html', 'recording.html'],
  ['otlp', 'recording.otlp'],
])

export const exportCommand = defineCommand({
  name: 'export',
  arguments: ['session or file'],
  summary: 'Export a session as a file',
  details: `<session or file> is an id or its first digits, "last", "last-failed", or a recording.
Formats: json is a recording that "playhead show" reads without a server, html is the replay page as a
single file for any browser, otlp is the original spans for any OpenTelemetry backend, which only the
server has.`,
  options: {
    format: { type: 'text', value: 'format', summary: `${[...formats.keys()].join(', ')} (default json)` },
    output: { type: 'text', short: 'o', value: 'file', summary: 'File to write (default: stdout)' },
  },
  examples: [
    ['playhead export last-failed -o failure.json', 'Attach a failure to a bug report'],
    ['playhead export last-failed --format html -o failure.html', 'Share a replay'],
    ['playhead export .playhead/run/s_1a2b3c4d.jsonl --format html -o replay.html', 'Without a server'],
    ['playhead export s_1a2b3c4d --format otlp | gzip > spans.json.gz', 'The spans as they were received'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const [source = ''] = positionals
    const format = options.format ?? 'json'
    checkChoice('format', format, [...formats.keys()])
    const { id, content } = isRecordingFile(source)
      ? await readRecording(source, format)
      : await readServer(
          source,
          format,
          await Api.connect(readSettings(globals, terminal.environment), 'read'),
        )
    if (options.output === undefined) return writeOut(content, terminal)
    const size = await saveFile(options.output, content)
    terminal.note(`Saved ${shortSessionId(id)} to ${options.output} (${formatBytes(size)}).`)
  },
})

type Exported = { id: string; content: AsyncIterable<Uint8Array> }

async function readServer(source: string, format: string, api: Api): Promise<Exported> {
  const id = await findSessionId(api, source)
  return { id, content: api.stream(`/api/sessions/${id}/${formats.get(format)}`) }
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

/** A pipe gets the raw bytes; for a terminal, control characters are escaped. */
async function writeOut(
  content: AsyncIterable<Uint8Array>,
  { stdout, isInteractive }: Terminal,
): Promise<void> {
  const decoder = new TextDecoder()
  for await (const chunk of content) {
    const isRoomLeft = stdout.write(
      isInteractive ? escapeJson(decoder.decode(chunk, { stream: true })) : chunk,
    )
    if (!isRoomLeft) await new Promise((resolve) => stdout.once('drain', resolve))
  }
  if (isInteractive) stdout.write('\n')
}
