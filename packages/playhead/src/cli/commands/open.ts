import { spawn } from 'node:child_process'
import type { Session } from '@playhead/model'
import { Api } from '../client/api.ts'
import { CliError } from '../terminal/cli-error.ts'
import { defineCommand } from '../arguments/command.ts'
import { findSessionId } from '../client/sessions.ts'
import { readSettings } from '../client/settings.ts'

export const openCommand = defineCommand({
  name: 'open',
  arguments: ['session'],
  summary: 'the replay of a session in the browser',
  details:
    '<session> is an id or its first digits, "last" or "last-failed". The address is printed in any case.',
  options: { print: { type: 'flag', summary: 'print the address and open nothing' } },
  examples: [
    ['playhead open last-failed', 'look at what just went wrong'],
    ['playhead open s_1a2b3c4d --print', 'the address, to send to somebody'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const settings = readSettings(globals, terminal.environment)
    const api = await Api.connect(settings, 'read')
    const id = await findSessionId(api, positionals[0] ?? '')
    const { session } = await api.json<Session>(`/api/sessions/${id}`, { query: { payloads: 'none' } })
    const url = readUrl(session.url ?? `${settings.endpoint}/sessions/${session.id}`)
    terminal.print(url)
    if (options.print === true || (await openBrowser(url))) return
    terminal.note('No browser could be started here; open the address above.')
  },
})

/** The address is a server's word, and a program is started with it. */
function readUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CliError(`The server gives "${text}" as the address of this session, which is none of a page.`)
  return url.href
}

/** True when the program that opens addresses was there. */
async function openBrowser(url: string): Promise<boolean> {
  const [program, args] = browserCommand(url)
  const child = spawn(program, args, { stdio: 'ignore', detached: true })
  child.unref()
  return new Promise((resolve) => {
    child.once('spawn', () => resolve(true))
    child.once('error', () => resolve(false))
  })
}

function browserCommand(url: string): [program: string, args: string[]] {
  if (process.platform === 'darwin') return ['open', [url]]
  // `start` of cmd.exe would read & and ^ in an address as its own.
  if (process.platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]]
  return ['xdg-open', [url]]
}
