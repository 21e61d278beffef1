import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { readSettings, type Settings } from '../client/settings.ts'
import { openDev } from '../rerun/dev.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { Relay } from './relay.ts'

export const mcpCommand = defineCommand({
  name: 'mcp',
  summary: 'Let a coding agent read sessions: serves the Model Context Protocol on stdin and stdout',
  details: `Coding agents start this themselves; "playhead setup" configures them. The tools are those of the server's /mcp,
with the rights of the key. Only the protocol is printed on stdout.
With --allow-fork there is one more tool, fork_session: it runs the agents in playhead.config.ts again from a step, as
"playhead dev" does, with writes stubbed and at most 1 US dollar for each job. With auth, it needs a key with the scope admin.`,
  options: {
    'allow-fork': { type: 'flag', summary: 'Let the coding agent run sessions again, with live models' },
    config: {
      type: 'text',
      value: 'file',
      summary: 'With --allow-fork: the config, if it is not playhead.config.ts in this folder or above',
    },
  },
  examples: [
    ['playhead setup claude-code', 'Configure a coding agent, which then starts this'],
    ['playhead mcp --allow-fork', 'With the tool that runs sessions again'],
  ],
  async run({ options, globals, terminal }) {
    const settings = readSettings(globals, terminal.environment)
    const dev =
      options['allow-fork'] === true ? await openFork(settings, options.config, terminal) : undefined
    const relay = new Relay({
      settings,
      access: dev === undefined ? 'read' : 'admin',
      headers: dev === undefined ? {} : { 'x-playhead-pairing': dev.token },
      input: terminal.stdin,
      write: (line) => void terminal.stdout.write(`${line}\n`),
    })
    try {
      await relay.run()
    } finally {
      await dev?.stop()
    }
  },
})

/** Connects this process as a terminal that runs jobs, and pairs with it. Whatever it prints goes to stderr. */
async function openFork(
  settings: Settings,
  configFile: string | undefined,
  terminal: Terminal,
): Promise<{ token: string; stop: () => Promise<void> }> {
  const quiet: Terminal = { ...terminal, stdout: terminal.stderr, print: (line) => terminal.note(line) }
  const dev = await openDev(configFile === undefined ? {} : { config: configFile }, {
    settings,
    terminal: quiet,
  })
  const stop = new AbortController()
  const code = Promise.withResolvers<string>()
  const ended = dev
    .serve(stop.signal, (pairing) => code.resolve(pairing.code))
    .catch((error: unknown) => code.reject(error))
  const api = await Api.connect(settings, 'admin')
  const { token } = await api.json<{ token: string }>('/api/dev/pair', {
    method: 'POST',
    body: { code: await code.promise },
  })
  return {
    token,
    async stop() {
      stop.abort()
      await ended
    },
  }
}
