import { formatAge, type Monitor, type MonitorStateName } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { readSettings } from '../client/settings.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findMonitorFile, readMonitorFile, type FileMonitor } from './monitor-file.ts'
import { isEmptyPlan, planMonitors, renderPlan, type Plan } from './plan.ts'

type Watched = {
  monitor: Monitor
  sentence: string
  state: MonitorStateName
  since: string
  value: number | null
  problem?: string
  examples: { url: string; message: string }[]
}

const json = { type: 'flag', summary: "Print the API's response" } as const
const file = {
  type: 'text',
  value: 'path',
  summary: 'The file with the monitors (default: playhead.monitors.ts here or in a folder above)',
} as const

const listCommand = defineCommand({
  name: 'monitors',
  summary: 'List monitors and their states',
  details: `When piped, prints one tab-separated line per monitor: state, id, since, value, name, what it watches.`,
  options: { json },
  examples: [
    ['playhead monitors', 'What is watched, and what fires'],
    ['playhead monitors plan', 'What playhead.monitors.ts would change'],
    ['playhead monitors apply', 'Change it'],
  ],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'read')
    const answer = await api.json<{ monitors: Watched[] }>('/api/monitors')
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    if (answer.monitors.length === 0)
      return terminal.note(
        'Nothing is watched. Write a playhead.monitors.ts and run: playhead monitors apply. Or create one under Settings → Monitors.',
      )
    printMonitors(answer.monitors, terminal)
  },
})

const planCommand = defineCommand({
  name: 'monitors plan',
  summary: 'Show what a file of monitors would change on the server',
  details:
    'Monitors that people made in the dashboard stay, unless the file has their id. A monitor tells every destination of alerts, unless it names some: destinations: ["on-call"]. Exits with 0 either way.',
  options: { file, json },
  examples: [['playhead monitors plan', 'Nothing is changed']],
  async run({ options, globals, terminal }) {
    const { plan, wanted, api } = await readPlan(options.file, globals, terminal, 'read')
    terminal.print(options.json === true ? printableJson(plan, 2) : renderPlan(plan, terminal.paint))
    await noteUntold(wanted, api, terminal)
  },
})

const applyCommand = defineCommand({
  name: 'monitors apply',
  summary: 'Make the monitors of the server those of a file',
  details: 'Prints the plan, then carries it out. Applying the same file twice changes nothing.',
  options: { file },
  examples: [['playhead monitors apply --file ops/monitors.mjs', 'In CI, after the tests']],
  async run({ options, globals, terminal }) {
    const { plan, wanted, api } = await readPlan(options.file, globals, terminal, 'admin')
    terminal.print(renderPlan(plan, terminal.paint))
    await noteUntold(wanted, api, terminal)
    if (isEmptyPlan(plan)) return
    for (const monitor of [...plan.create, ...plan.change.map(({ after }) => after)])
      await api.json('/api/monitors', { method: 'POST', body: { ...monitor, isFromFile: true } })
    for (const { id } of plan.remove)
      await api.json(`/api/monitors/${encodeURIComponent(id)}`, { method: 'DELETE' })
    terminal.note('Applied.')
  },
})

export const monitorCommands = [listCommand, planCommand, applyCommand]

async function readPlan(
  given: string | undefined,
  globals: Parameters<typeof readSettings>[0],
  terminal: Terminal,
  access: 'read' | 'admin',
): Promise<{ plan: Plan; wanted: FileMonitor[]; api: Api }> {
  const wanted = await readMonitorFile(findMonitorFile(process.cwd(), given))
  const api = await Api.connect(readSettings(globals, terminal.environment), access)
  const { monitors } = await api.json<{ monitors: Watched[] }>('/api/monitors')
  return {
    plan: planMonitors(
      wanted,
      monitors.map(({ monitor }) => monitor),
    ),
    wanted,
    api,
  }
}

type Told = { id: string; problem?: string }

/** Names the destinations that the monitors of the file tell, but that would hear nothing, and why. */
async function noteUntold(wanted: readonly FileMonitor[], api: Api, terminal: Terminal): Promise<void> {
  const { destinations } = await api.json<{ destinations: Told[] }>('/api/destinations')
  const known = new Map(destinations.map((destination) => [destination.id, destination]))
  const told = wanted.flatMap((monitor) => monitor.destinations ?? [...known.keys()])
  for (const id of new Set(told)) {
    const destination = known.get(id)
    const why =
      destination === undefined
        ? 'there is no destination with this id. Save it under Settings → Alerts.'
        : destination.problem
    if (why !== undefined) terminal.note(`Nothing is sent to ${plainLine(id)}: ${plainLine(why)}`)
  }
}

const colours = {
  normal: 'green',
  pending: 'yellow',
  firing: 'red',
  recovering: 'yellow',
  'no-data': 'dim',
  error: 'red',
  paused: 'dim',
} as const satisfies Record<MonitorStateName, string>

function printMonitors(monitors: readonly Watched[], terminal: Terminal): void {
  if (!terminal.isInteractive)
    return monitors.forEach(({ state, monitor, since, value, sentence }) =>
      terminal.print(
        [state, monitor.id, since, value ?? '', monitor.name, sentence]
          .map((cell) => plainLine(String(cell)))
          .join('\t'),
      ),
    )
  const nowMs = Date.now()
  terminal.print(
    renderTable<Watched>(
      [
        {
          title: 'State',
          text: ({ state }) => state,
          paint: (text, { state }) => terminal.paint(colours[state], text),
        },
        { title: 'Since', text: ({ since }) => formatAge(since, nowMs) },
        { title: 'Monitor', text: ({ monitor }) => plainLine(monitor.name), minWidth: 16 },
        { title: 'When', text: ({ sentence }) => plainLine(sentence), minWidth: 24, dropOrder: 1 },
      ],
      monitors,
      terminal,
    ),
  )
  for (const { monitor, examples } of monitors.filter(({ state }) => state === 'firing'))
    for (const { url, message } of examples)
      terminal.print(`  ${plainLine(monitor.name)}: ${plainLine(message.split('\n', 1)[0]!)}\n    ${url}`)
}
