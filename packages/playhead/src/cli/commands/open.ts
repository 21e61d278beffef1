import { spawn } from 'node:child_process'
import type { Session } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { findSessionId } from '../client/sessions.ts'
import { readSettings } from '../client/settings.ts'
import { CliError } from '../terminal/cli-error.ts'

export const openCommand = defineCommand({
  name: 'open',
  arguments: ['session'],
  summary: 'Open the replay of a session in the browser',
  details: '<session> is an id or its first digits, "last" or "last-failed". The URL is always printed.',
  options: { print: { type: 'flag', summary: "Print the URL, but don't open it" } },
  examples: [
    ['playhead open last-failed', 'See what just went wrong'],
    ['playhead open s_1a2b3c4d --print', 'Get a URL to share'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const settings = readSettings(globals, terminal.environment)
    const api = await Api.connect(settings, 'read')
    const id = await findSessionId(api, positionals[0] ?? '')
    const { session } = await api.json<Session>(`/api/sessions/${id}`, { query: { payloads: 'none' } })
    const url = readUrl(session.url ?? `${settings.endpoint}/sessions/${session.id}`)
    terminal.print(url)
    if (options.print === true || (await openBrowser(url))) return
    terminal.note("Couldn't start a browser. Open the URL above yourself.")
  },
})

/** The URL comes from the server and is passed to a program, so only http and https are accepted. */
function readUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CliError(
      `The server returned "${text}" as the URL of this session, which is not a web address.`,
    )
  return url.href
}

/** True when a program that opens URLs was found. */
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
  // `start` in cmd.exe would interpret & and ^ in the URL.
  if (process.platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]]
  return ['xdg-open', [url]]
}
