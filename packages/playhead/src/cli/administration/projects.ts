import { countOf, formatAge } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { readSettings } from '../client/settings.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

type Project = { id: string; name: string; createdAt: string; retentionDays: number | null }

const json = { type: 'flag', summary: "Print the API's response" } as const

export const projectsListCommand = defineCommand({
  name: 'projects list',
  summary: 'List the projects on the server',
  options: { json },
  examples: [['playhead projects list', 'The ids to pass to --project']],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const answer = await api.json<{ projects: Project[] }>('/api/projects')
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    printProjects(answer.projects, terminal)
  },
})

export const projectsCreateCommand = defineCommand({
  name: 'projects create',
  arguments: ['name'],
  summary: 'Create a project',
  options: {
    id: { type: 'text', value: 'id', summary: 'Project id (default: derived from the name)' },
    json,
  },
  examples: [
    ['playhead projects create "Web shop" --id shop', 'Then: playhead keys create --project shop --name ci'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'server')
    const body = { name: positionals[0], ...(options.id !== undefined && { id: options.id }) }
    const project = await api.json<Project>('/api/projects', { method: 'POST', body })
    if (options.json === true) return terminal.print(printableJson(project, 2))
    const id = plainLine(project.id)
    terminal.note(
      `Created project "${plainLine(project.name)}". To create a key for it: playhead keys create --project ${id} --name ci`,
    )
    terminal.print(id)
  },
})

function printProjects(projects: readonly Project[], terminal: Terminal): void {
  if (!terminal.isInteractive) {
    for (const { id, name, createdAt, retentionDays } of projects)
      terminal.print([id, name, createdAt, String(retentionDays ?? '')].map(plainLine).join('\t'))
    return
  }
  const nowMs = Date.now()
  const columns = [
    { title: 'ID', text: ({ id }: Project) => plainLine(id) },
    { title: 'Name', text: ({ name }: Project) => plainLine(name), minWidth: 10 },
    { title: 'Retention', text: ({ retentionDays }: Project) => describeRetention(retentionDays) },
    { title: 'Created', text: ({ createdAt }: Project) => formatAge(createdAt, nowMs) },
  ]
  terminal.print(renderTable(columns, projects, terminal))
}

function describeRetention(days: number | null): string {
  return days === null ? 'forever' : countOf(days, 'day')
}
