import { formatAge, countOf } from '@playhead/model'
import { Api } from '../client/api.ts'
import { defineCommand } from '../arguments/command.ts'
import { printableJson } from '../terminal/printable-text.ts'
import { readSettings } from '../client/settings.ts'
import { renderTable } from '../terminal/table.ts'
import { plainLine, type Terminal } from '../terminal/terminal.ts'

type Project = { id: string; name: string; createdAt: string; retentionDays: number | null }

const json = { type: 'flag', summary: 'as the API answers' } as const

export const projectsListCommand = defineCommand({
  name: 'projects list',
  summary: 'the projects of the server',
  options: { json },
  examples: [['playhead projects list', 'the ids that --project takes']],
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
  summary: 'a new project',
  options: { id: { type: 'text', value: 'id', summary: 'its id (default: made from the name)' }, json },
  examples: [
    ['playhead projects create "Web shop" --id shop', 'then: playhead keys create --project shop --name ci'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'server')
    const body = { name: positionals[0], ...(options.id !== undefined && { id: options.id }) }
    const project = await api.json<Project>('/api/projects', { method: 'POST', body })
    if (options.json === true) return terminal.print(printableJson(project, 2))
    const id = plainLine(project.id)
    terminal.note(
      `Project "${plainLine(project.name)}" is there. A key for it: playhead keys create --project ${id} --name ci`,
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
    { title: 'Id', text: ({ id }: Project) => plainLine(id) },
    { title: 'Name', text: ({ name }: Project) => plainLine(name), shrinksTo: 10 },
    { title: 'Keeps sessions', text: ({ retentionDays }: Project) => describeRetention(retentionDays) },
    { title: 'Created', text: ({ createdAt }: Project) => formatAge(createdAt, nowMs) },
  ]
  terminal.print(renderTable(columns, projects, terminal))
}

function describeRetention(days: number | null): string {
  return days === null ? 'for ever' : countOf(days, 'day')
}
