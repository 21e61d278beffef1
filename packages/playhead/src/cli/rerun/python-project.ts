import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { visibleText } from '@playhead/model'
import { ConfigError } from '../../rerun/config-file.ts'

/** What a pyproject.toml says about agents and their tests. */
export type PythonProject = { folder: string; agents: string[]; cassettes: string | undefined }

/** The Python project around a folder; undefined if there is none. */
export function findPythonProject(from: string): PythonProject | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = join(folder, 'pyproject.toml')
    if (existsSync(file)) return readProject(folder, readFileSync(file, 'utf8'))
    if (dirname(folder) === folder) return undefined
  }
}

function readProject(folder: string, toml: string): PythonProject {
  const cassettes = /^\s*cassettes\s*=\s*(["'])(.+?)\1/m.exec(sectionOf(toml, 'tool.playhead'))?.[2]
  const lines = sectionOf(toml, 'tool.playhead.agents').split('\n')
  const agents = lines.flatMap((line) => /^\s*(["']?)([^"'#=]+?)\1\s*=/.exec(line)?.[2] ?? [])
  return { folder, agents, cassettes: cassettes === undefined ? undefined : resolve(folder, cassettes) }
}

function sectionOf(toml: string, name: string): string {
  const [, ...sections] = toml.split(/^\s*\[/m)
  return sections.find((section) => section.startsWith(`${name}]`))?.slice(name.length + 1) ?? ''
}

/** The agent that made sessions of this name. */
export function findPythonAgent({ agents, folder }: PythonProject, name: string): string {
  if (agents.includes(name)) return name
  const key = /^[\w-]+$/.test(name) ? name : JSON.stringify(name)
  throw new ConfigError(
    `No agent in ${visibleText(join(folder, 'pyproject.toml'))} makes sessions named "${visibleText(name)}". Add it:

[tool.playhead.agents]
${key} = "app.agent:run"

Its agents: ${agents.length === 0 ? 'none' : agents.map(visibleText).join(', ')}.`,
  )
}

/** Where the pytest plugin looks for the cassette of a test. */
export function pythonCassette({ cassettes }: PythonProject, test: string, name: string): string {
  const folder = cassettes ?? join(dirname(test), '__cassettes__')
  return join(folder, basename(test, '.py'), `${name}.jsonl`)
}

/** The Python of the project's environment. */
export function findPython(folder: string): string {
  const places = [process.env.VIRTUAL_ENV, join(folder, '.venv'), join(folder, 'venv')]
  const found = places
    .flatMap((place) => (place ? [join(place, 'bin/python'), join(place, 'Scripts/python.exe')] : []))
    .find(existsSync)
  return found ?? 'python3'
}
