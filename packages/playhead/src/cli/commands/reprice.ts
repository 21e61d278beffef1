import { formatCost, countOf, formatCount } from '@playhead/model'
import { Api } from '../client/api.ts'
import { defineCommand } from '../arguments/command.ts'
import { printableJson } from '../terminal/printable-text.ts'
import { readSettings } from '../client/settings.ts'
import { renderTable, type Column } from '../terminal/table.ts'
import { plainLine, type Terminal } from '../terminal/terminal.ts'
import { watchWork } from '../client/job.ts'

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
  summary: "every cost of a project with today's prices",
  details: `Costs that were reported with a call stay as they are. Prints what changed, model by model; in a pipe
tab-separated: model, steps, cost before, cost after. A cost that is not known is empty.`,
  options: { json: { type: 'flag', summary: 'as the API answers' } },
  examples: [['playhead reprice --project shop', 'after a price was added in the settings']],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const repriced = await watchWork<Repriced>(api, { path: '/api/reprice', label: 'Pricing' }, terminal)
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
  { title: 'Model', text: ({ model }) => plainLine(model), shrinksTo: 16 },
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
      ? "Nothing changed: every cost is what today's prices give."
      : `${countOf(steps, 'step')} of ${countOf(sessions, 'session')} ${steps === 1 ? 'has' : 'have'} a new cost.`
  if (unpricedModels.length === 0) return changed
  return `${changed}\nStill without a price: ${unpricedModels.map(plainLine).join(', ')}. Prices are set on the settings page.`
}
