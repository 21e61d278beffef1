import { formatAge } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { readSettings } from '../client/settings.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import { renderTable } from '../terminal/table.ts'

type Person = {
  id: string
  subject: string
  email: string
  name: string
  roles: Record<string, string>
  isDisabled: boolean
  lastLoginAt: string
}

const json = { type: 'flag', summary: "Print the API's response" } as const
const roleNames = ['viewer', 'member', 'admin', 'none']

export const peopleListCommand = defineCommand({
  name: 'people list',
  summary: 'List who logged in with the login provider, and their roles',
  options: { json },
  examples: [['playhead people list', 'People appear after their first login']],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'server')
    const answer = await api.json<{ people: Person[] }>('/api/people')
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    if (answer.people.length === 0)
      return terminal.note(
        'Nobody has logged in with a provider yet. See docs/running.md for how to set one up.',
      )
    if (!terminal.isInteractive) {
      for (const { email, name, roles } of answer.people)
        terminal.print([email, name, describeRoles(roles)].map(plainLine).join('\t'))
      return
    }
    const columns = [
      { title: 'E-mail', text: ({ email, subject }: Person) => plainLine(email || subject), minWidth: 16 },
      { title: 'Name', text: ({ name }: Person) => plainLine(name), dropOrder: 1 },
      {
        title: 'Roles',
        text: ({ roles, isDisabled }: Person) => (isDisabled ? 'disabled' : describeRoles(roles)),
      },
      { title: 'Last login', text: ({ lastLoginAt }: Person) => formatAge(lastLoginAt, Date.now()) },
    ]
    terminal.print(renderTable(columns, answer.people, terminal))
  },
})

export const peopleSetCommand = defineCommand({
  name: 'people set',
  arguments: ['email'],
  summary: "Change a person's role, or disable them",
  details:
    'Viewers read. Members also tag, judge and re-run sessions and decide on issues. Admins also manage keys, prices, retention and deletions; an admin of all projects manages the server.',
  options: {
    role: { type: 'text', value: 'role', summary: 'viewer, member, admin or none' },
    everywhere: { type: 'flag', summary: 'In all projects, not only in one' },
    disable: { type: 'flag', summary: 'End their logins and allow no new ones' },
    enable: { type: 'flag', summary: 'Allow logins again' },
    json,
  },
  examples: [
    ['playhead people set ada@example.com --role member --project shop', 'One project'],
    ['playhead people set ada@example.com --role viewer --everywhere', 'All projects'],
    ['playhead people set ada@example.com --disable', 'When somebody leaves'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const { role, everywhere, disable, enable } = options
    if (role === undefined && disable !== true && enable !== true)
      throw new UsageError('Pass --role, --disable or --enable. For usage: playhead people set --help')
    if (role !== undefined && !roleNames.includes(role))
      throw new UsageError(`--role can't be "${role}". Roles: ${roleNames.join(', ')}`)
    const settings = readSettings(globals, terminal.environment)
    const api = await Api.connect(settings, 'server')
    const person = await findPerson(api, positionals[0] ?? '')
    const place = everywhere === true ? '*' : (settings.project ?? 'default')
    const { [place]: _, ...others } = person.roles
    const changed = await api.json<Person>(`/api/people/${encodeURIComponent(person.id)}`, {
      method: 'PATCH',
      body: {
        ...(role !== undefined && { roles: role === 'none' ? others : { ...others, [place]: role } }),
        ...(disable === true && { isDisabled: true }),
        ...(enable === true && { isDisabled: false }),
      },
    })
    if (options.json === true) return terminal.print(printableJson(changed, 2))
    const state = changed.isDisabled ? 'disabled' : describeRoles(changed.roles)
    terminal.note(`${plainLine(changed.email || changed.name)}: ${plainLine(state)}`)
  },
})

async function findPerson(api: Api, typed: string): Promise<Person> {
  const { people } = await api.json<{ people: Person[] }>('/api/people')
  const found = people.filter(({ id, email, subject }) =>
    [id, email.toLowerCase(), subject].includes(typed.includes('@') ? typed.toLowerCase() : typed),
  )
  if (found.length === 1) return found[0]!
  throw new CliError(
    found.length === 0
      ? `Nobody with the address "${typed}" has logged in yet. To see all: playhead people list`
      : `Several people have the address "${typed}". Use the id from: playhead people list --json`,
  )
}

function describeRoles(roles: Record<string, string>): string {
  const entries = Object.entries(roles).map(
    ([place, role]) => `${role} of ${place === '*' ? 'all projects' : place}`,
  )
  return entries.length === 0 ? 'none' : entries.join(', ')
}
