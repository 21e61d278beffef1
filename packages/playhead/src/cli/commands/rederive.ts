import { countOf } from '@playhead/model'
import { Api } from '../client/api.ts'
import { defineCommand } from '../arguments/command.ts'
import { printableJson } from '../terminal/printable-text.ts'
import { readSettings } from '../client/settings.ts'
import { watchWork } from '../client/job.ts'

type Rederived = { project: string; sessions: number; steps: number; normalizerVersion: number }

export const rederiveCommand = defineCommand({
  name: 'rederive',
  summary: 'reads the stored spans of a project again, with the rules of this version',
  details:
    'After an update: sessions that were recorded before it are understood as new ones are. Nothing is lost by it.',
  options: {
    all: { type: 'flag', summary: 'also those that were read by these rules already' },
    json: { type: 'flag', summary: 'as the API answers' },
  },
  examples: [
    ['playhead rederive', 'after an update of the server'],
    ['playhead rederive --all --project shop', 'everything in one project'],
  ],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const query = { all: options.all === true ? 'true' : 'false' }
    const rederived = await watchWork<Rederived>(
      api,
      { path: '/api/rederive', query, label: 'Reading' },
      terminal,
    )
    if (options.json === true) return terminal.print(printableJson(rederived, 2))
    terminal.note(describeResult(rederived))
  },
})

function describeResult({ sessions, steps, normalizerVersion }: Rederived): string {
  if (sessions === 0)
    return `Every step was read by the rules of now (${normalizerVersion}) already. To read all of them anyway: playhead rederive --all`
  return `${countOf(steps, 'step')} of ${countOf(sessions, 'session')} were read again, by the rules of now (${normalizerVersion}).`
}
