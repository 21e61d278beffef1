import { countOf, formatCost, formatCount } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { runJob } from '../client/job.ts'
import { readSettings } from '../client/settings.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import { renderTable, type Column } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

type ModelChange = { model: string; steps: number; before: number | null; after: number | null }

type Repriced = {
  project: string
  sessions: number
  steps: number
  models: ModelChange[]
  unpricedModels: string[]
}

export const repriceCommand = defineCommand({
  name: 'reprice',
  summary: 'Recalculate the costs of a project with current prices',
  details: `Costs that were reported with a call are not changed. Prints the changes for each model. When piped, prints
tab-separated lines: model, steps, cost before, cost after; an unknown cost is empty.`,
  options: { json: { type: 'flag', summary: "Print the API's response" } },
  examples: [['playhead reprice --project shop', 'After: playhead prices set']],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const repriced = await runJob<Repriced>(api, { path: '/api/reprice', label: 'Repricing' }, terminal)
    if (options.json === true) return terminal.print(printableJson(repriced, 2))
    printChanges(repriced.models, terminal)
    terminal.note(describeResult(repriced))
  },
})

function printChanges(changes: readonly ModelChange[], terminal: Terminal): void {
  if (changes.length === 0) return
  if (terminal.isInteractive) return terminal.print(renderTable(changeColumns, changes, terminal))
  for (const { model, steps, before, after } of changes)
    terminal.print([plainLine(model), steps, before ?? '', after ?? ''].join('\t'))
}

const changeColumns: Column<ModelChange>[] = [
  { title: 'Model', text: ({ model }) => plainLine(model), minWidth: 16 },
  { title: 'Steps', text: ({ steps }) => formatCount(steps), align: 'right' },
  { title: 'Before', text: ({ before }) => describeAmount(before), align: 'right' },
  { title: '', text: () => '→' },
  { title: 'After', text: ({ after }) => describeAmount(after), align: 'right' },
]

function describeAmount(cost: number | null): string {
  return cost === null ? 'unknown' : formatCost(cost)
}

function describeResult({ steps, sessions, unpricedModels }: Repriced): string {
  const changed =
    steps === 0
      ? 'Nothing changed: all costs already match current prices.'
      : `Updated the cost of ${countOf(steps, 'step')} in ${countOf(sessions, 'session')}.`
  if (unpricedModels.length === 0) return changed
  return `${changed}\nNo price for: ${unpricedModels.map(plainLine).join(', ')}. Set them with: playhead prices set <model>`
}
