import { countOf } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { runJob } from '../client/job.ts'
import { readSettings } from '../client/settings.ts'
import { printableJson } from '../terminal/printable-text.ts'

type Rederived = {
  project: string
  sessions: number
  steps: number
  findings?: number
  normalizerVersion: number
}

export const rederiveCommand = defineCommand({
  name: 'rederive',
  summary: 'Re-derive the sessions of a project from their stored spans',
  details:
    'Run it after an update, so that older sessions are interpreted by the rules of the new version, and their findings are computed again. No data is lost.',
  options: {
    all: { type: 'flag', summary: 'Include sessions that are already up to date' },
    json: { type: 'flag', summary: "Print the API's response" },
  },
  examples: [
    ['playhead rederive', 'After updating the server'],
    ['playhead rederive --all --project shop', 'Everything in one project'],
  ],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const query = { all: options.all === true ? 'true' : 'false' }
    const rederived = await runJob<Rederived>(
      api,
      { path: '/api/rederive', query, label: 'Re-deriving' },
      terminal,
    )
    if (options.json === true) return terminal.print(printableJson(rederived, 2))
    terminal.note(describeResult(rederived))
  },
})

function describeResult({ sessions, steps, findings = 0, normalizerVersion }: Rederived): string {
  const found = findings === 0 ? '' : ` Computed the findings of ${countOf(findings, 'session')} again.`
  if (sessions === 0)
    return `Every step is already up to date (rules version ${normalizerVersion}).${found} To re-derive them anyway: playhead rederive --all`
  return `Re-derived ${countOf(steps, 'step')} in ${countOf(sessions, 'session')} (rules version ${normalizerVersion}).${found}`
}
