import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CliError } from '../terminal/cli-error.ts'
import { defineCommand } from '../arguments/command.ts'
import type { Environment, Terminal } from '../terminal/terminal.ts'

/** The part of `@playhead/server` that is used. It is another package, which not everybody has. */
type ServerPackage = { serve: (environment: Environment) => Promise<void> }

const SERVER_PACKAGE: string = '@playhead/server'

const howToGetIt = `The server is a package of its own, ${SERVER_PACKAGE}, and it is not installed here.
Run it without installing:    npx ${SERVER_PACKAGE}
Or install it beside yours:   npm i -D ${SERVER_PACKAGE}`

export const serveCommand = defineCommand({
  name: 'serve',
  summary: `the server and the dashboard (needs ${SERVER_PACKAGE})`,
  details: 'Options are another way to set PLAYHEAD_PORT, PLAYHEAD_HOST and PLAYHEAD_DATA. Ctrl-C ends it.',
  options: {
    port: { type: 'text', value: 'port', summary: 'default 4318, where OpenTelemetry sends to' },
    host: { type: 'text', value: 'address', summary: 'default 127.0.0.1; any other needs PLAYHEAD_PASSWORD' },
    data: { type: 'text', value: 'folder', summary: 'where everything is kept (default ~/.playhead)' },
  },
  examples: [
    ['playhead serve', 'on this machine, for you'],
    ['playhead serve --port 4319 --data ./.playhead-data', 'a second one'],
    ['PLAYHEAD_PASSWORD=… playhead serve --host 0.0.0.0', 'for a team'],
  ],
  async run({ options, globals, terminal }) {
    const { serve } = await loadServer()
    outliveReaders(terminal)
    await serve({
      ...terminal.environment,
      ...(options.port !== undefined && { PLAYHEAD_PORT: options.port }),
      ...(options.host !== undefined && { PLAYHEAD_HOST: options.host }),
      ...(options.data !== undefined && { PLAYHEAD_DATA: options.data }),
      ...(globals.password !== undefined && { PLAYHEAD_PASSWORD: globals.password }),
    })
  },
})

/** `playhead serve | tee log` and Ctrl-C end `tee` first: the server still has to put its things away. */
function outliveReaders({ stdout, stderr }: Terminal): void {
  for (const stream of [stdout, stderr]) stream.removeAllListeners('error').on('error', () => {})
}

/** Beside this package, or in the folder where the command was typed: `npx playhead` runs from elsewhere. */
async function loadServer(): Promise<ServerPackage> {
  try {
    return (await import(SERVER_PACKAGE)) as ServerPackage
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  try {
    const path = createRequire(join(process.cwd(), 'package.json')).resolve(SERVER_PACKAGE)
    return (await import(pathToFileURL(path).href)) as ServerPackage
  } catch (error) {
    if (isMissing(error)) throw new CliError(howToGetIt, { cause: error })
    throw error
  }
}

/** The package itself, not something that it imports. */
function isMissing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return (
    (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') &&
    message.includes(`'${SERVER_PACKAGE}'`)
  )
}
