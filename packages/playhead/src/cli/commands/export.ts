import { shortSessionId, formatBytes } from '@playhead/model'
import { Api } from '../client/api.ts'
import { checkWord } from '../arguments/option-values.ts'
import { defineCommand } from '../arguments/command.ts'
import { findSessionId } from '../client/sessions.ts'
import { escapeJson } from '../terminal/printable-text.ts'
import { saveFile } from '../client/download.ts'
import { readSettings } from '../client/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What a session can be exported as, and where the server has it. */
const formats = new Map([
  ['json', 'recording'],
  ['html', 'recording.html'],
  ['otlp', 'recording.otlp'],
])

export const exportCommand = defineCommand({
  name: 'export',
  arguments: ['session'],
  summary: 'a session as a file',
  details: `<session> is an id or its first digits, "last" or "last-failed". json is a recording, which
"playhead show" reads without a server; html is the replay page with the session inside, one file
that opens in any browser; otlp is what was sent, for any OpenTelemetry backend.`,
  options: {
    format: { type: 'text', value: 'format', summary: `${[...formats.keys()].join(', ')} (default json)` },
    output: { type: 'text', short: 'o', value: 'file', summary: 'where to write it (default: stdout)' },
  },
  examples: [
    ['playhead export last-failed -o failure.json', 'keep a failure with the bug report'],
    ['playhead export last-failed --format html -o failure.html', 'a replay to send to somebody'],
    ['playhead export s_1a2b3c4d --format otlp | gzip > spans.json.gz', 'the spans as they arrived'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const path = readFormat(options.format ?? 'json')
    const api = await Api.connect(readSettings(globals, terminal.environment), 'read')
    const id = await findSessionId(api, positionals[0] ?? '')
    const content = api.stream(`/api/sessions/${id}/${path}`)
    if (options.output === undefined) return writeOut(content, terminal)
    const size = await saveFile(options.output, content)
    terminal.note(`${shortSessionId(id)} is in ${options.output} (${formatBytes(size)}).`)
  },
})

function readFormat(format: string): string {
  checkWord('format', format, [...formats.keys()])
  return formats.get(format) ?? ''
}

/** A pipe gets the bytes as they are, a terminal nothing that it would act on. */
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
