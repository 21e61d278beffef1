import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { countOf } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { explainFileError } from '../client/download.ts'
import { readSettings } from '../client/settings.ts'
import { CliError } from '../terminal/cli-error.ts'
import { plainLine } from '../terminal/printable-text.ts'

type Partial = { partialSuccess?: { rejectedSpans?: number | string; errorMessage?: string } }

export const importCommand = defineCommand({
  name: 'import',
  arguments: ['file'],
  summary: 'Import sessions from spans: a file with a line of OTLP/JSON for each session',
  details: `Reads what "playhead export --where … --of spans" writes, and what the file exporter of an OpenTelemetry Collector
writes. "-" reads stdin. Sessions keep their ids, so a file that is imported twice adds nothing. With auth, it needs a
key with the scope ingest.`,
  options: {},
  examples: [
    ['playhead import support.jsonl', 'Sessions from another server'],
    ['playhead import spans.json --project staging', 'Into another project'],
  ],
  async run({ globals, positionals, terminal }) {
    const [path = ''] = positionals
    const api = await Api.connect(readSettings(globals, terminal.environment), 'read')
    const input = path === '-' ? terminal.stdin : createReadStream(path)
    let [lines, rejected, why] = [0, 0, '']
    try {
      for await (const line of createInterface({ input })) {
        if (line.trim() === '') continue
        lines += 1
        const answer = await post(api, line).catch((error: unknown) => {
          throw new CliError(
            `Line ${lines} of ${path} was not imported: ${error instanceof Error ? error.message : String(error)}`,
          )
        })
        rejected += Number(answer.partialSuccess?.rejectedSpans ?? 0)
        why ||= answer.partialSuccess?.errorMessage ?? ''
      }
    } catch (error) {
      throw error instanceof CliError ? error : explainFileError(error, path)
    }
    terminal.note(`Imported ${countOf(lines, 'line')} from ${path}.`)
    if (rejected > 0) throw new CliError(`${countOf(rejected, 'span')} were rejected. ${plainLine(why)}`)
  },
})

async function post(api: Api, line: string): Promise<Partial> {
  const { project } = api.settings
  const response = await fetch(api.url('/v1/traces'), {
    method: 'POST',
    headers: {
      ...api.headers(),
      'content-type': 'application/json',
      ...(project !== undefined && { 'x-playhead-project': project }),
    },
    body: line,
  }).catch((error: unknown) => {
    throw api.connectionError(error)
  })
  const text = await response.text()
  if (!response.ok) throw api.responseError('/v1/traces', response.status, text)
  return JSON.parse(text) as Partial
}
