import { formatBytes, shortSessionId } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { checkChoice } from '../arguments/option-values.ts'
import { Api } from '../client/api.ts'
import { saveFile } from '../client/download.ts'
import { findSessionId } from '../client/sessions.ts'
import { readSettings } from '../client/settings.ts'
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
  arguments: ['session'],
  summary: 'Export a session as a file',
  details: `<session> is an id or its first digits, "last" or "last-failed".
Formats: json is a recording that "playhead show" reads without a server, html is the replay page as a
single file for any browser, otlp is the original spans for any OpenTelemetry backend.`,
  options: {
    format: { type: 'text', value: 'format', summary: `${[...formats.keys()].join(', ')} (default json)` },
    output: { type: 'text', short: 'o', value: 'file', summary: 'File to write (default: stdout)' },
  },
  examples: [
    ['playhead export last-failed -o failure.json', 'Attach a failure to a bug report'],
    ['playhead export last-failed --format html -o failure.html', 'Share a replay'],
    ['playhead export s_1a2b3c4d --format otlp | gzip > spans.json.gz', 'The spans as they were received'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const path = readFormat(options.format ?? 'json')
    const api = await Api.connect(readSettings(globals, terminal.environment), 'read')
    const id = await findSessionId(api, positionals[0] ?? '')
    const content = api.stream(`/api/sessions/${id}/${path}`)
    if (options.output === undefined) return writeOut(content, terminal)
    const size = await saveFile(options.output, content)
    terminal.note(`Saved ${shortSessionId(id)} to ${options.output} (${formatBytes(size)}).`)
  },
})

function readFormat(format: string): string {
  checkChoice('format', format, [...formats.keys()])
  return formats.get(format) ?? ''
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
