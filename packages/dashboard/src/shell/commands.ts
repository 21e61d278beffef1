import { parseSessionIdPrefix, type SessionSummary } from '@playhead/model'
import { chooseTheme, type Theme } from '../ui/browser/theme.ts'

/** An entry of the command palette. */
export type Command = {
  id: string
  group: 'Sessions' | 'Go to' | 'Theme' | 'Project'
  label: string
  hint?: string
  icon: 'session' | 'page' | 'theme' | 'project' | 'search'
  target:
    | { kind: 'path'; path: string }
    | { kind: 'session'; sessionId: string }
    | { kind: 'filter'; filter: string }
    | { kind: 'project'; project: string }
    | { kind: 'do'; action: () => void }
}

const pages = [
  ['Overview', '/overview'],
  ['Sessions', '/sessions'],
  ['Issues', '/issues'],
  ['Tests', '/tests'],
  ['Settings: projects', '/settings/projects'],
  ['Settings: keys', '/settings/keys'],
  ['Settings: monitors', '/settings/monitors'],
  ['Settings: prices', '/settings/prices'],
  ['Settings: retention', '/settings/retention'],
  ['Settings: health', '/settings/health'],
  ['Settings: about', '/settings/about'],
] as const

const themes: readonly Theme[] = ['light', 'dark', 'system']

const SHORTEST_ID = 4

/** The commands that match the typed text. */
export function findCommands(
  typed: string,
  known: { sessions: readonly SessionSummary[]; projects: readonly { id: string; name: string }[] },
): Command[] {
  const text = typed.trim()
  const matches = ({ label }: Command) => label.toLowerCase().includes(text.toLowerCase())
  const places = [
    ...pages.map(([label, path]) => page(label, path)),
    ...(known.projects.length > 1 ? known.projects.map(projectCommand) : []),
    ...themes.map(themeCommand),
  ].filter(matches)
  const sessions = sessionCommands(text, known.sessions)
  // Recent sessions come first until something is typed.
  return text === '' ? [...sessions, ...places] : [...openById(text), ...places, ...sessions]
}

/** Opens a session by its id or a prefix of it. */
function openById(text: string): Command[] {
  const prefix = text.length < SHORTEST_ID ? undefined : parseSessionIdPrefix(text)
  if (prefix === undefined) return []
  return [
    {
      id: 'by-id',
      group: 'Sessions',
      label: `Open session s_${prefix}`,
      hint: 'by id',
      icon: 'session',
      target: { kind: 'session', sessionId: prefix },
    },
  ]
}

function sessionCommands(text: string, sessions: readonly SessionSummary[]): Command[] {
  const found = sessions.map((session): Command => ({
    id: session.id,
    group: 'Sessions',
    label: session.name,
    hint: session.endState,
    icon: 'session',
    target: { kind: 'session', sessionId: session.id },
  }))
  if (text === '') return found
  return [
    ...found,
    {
      id: 'search',
      group: 'Sessions',
      label: `Search sessions for “${text}”`,
      hint: 'in prompts, answers and results',
      icon: 'search',
      target: { kind: 'filter', filter: text },
    },
  ]
}

function projectCommand({ id, name }: { id: string; name: string }): Command {
  return {
    id: `project-${id}`,
    group: 'Project',
    label: `Project: ${name}`,
    icon: 'project',
    target: { kind: 'project', project: id },
  }
}

function page(label: string, path: string): Command {
  return { id: path, group: 'Go to', label, icon: 'page', target: { kind: 'path', path } }
}

function themeCommand(theme: Theme): Command {
  return {
    id: `theme-${theme}`,
    group: 'Theme',
    label: `Theme: ${theme}`,
    icon: 'theme',
    target: { kind: 'do', action: () => chooseTheme(theme) },
  }
}
