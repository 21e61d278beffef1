import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineCommand } from '../arguments/command.ts'
import { CliError } from '../terminal/cli-error.ts'
import type { Environment, Terminal } from '../terminal/terminal.ts'

/** The part of `@playhead/server` that these commands use. The package is optional. */
type ServerPackage = {
  serve: (environment: Environment) => Promise<void>
  createLoginLink: (environment: Environment) => Promise<{ url: string } | { problem: string }>
}

const SERVER_PACKAGE: string = '@playhead/server'

const installHint = `The server is a separate package, ${SERVER_PACKAGE}, and it is not installed here.
Run it without installing:  npx ${SERVER_PACKAGE}
Or install it:              npm i -D ${SERVER_PACKAGE}`

export const serveCommand = defineCommand({
  name: 'serve',
  summary: `Start the server and the dashboard (requires ${SERVER_PACKAGE})`,
  details:
    'The options override PLAYHEAD_PORT, PLAYHEAD_HOST, PLAYHEAD_DATA, PLAYHEAD_TLS_CERT and PLAYHEAD_TLS_KEY. Stop the server with Ctrl-C.',
  options: {
    port: { type: 'text', value: 'port', summary: "Port (default 4318, OpenTelemetry's default)" },
    host: {
      type: 'text',
      value: 'address',
      summary: 'Address to listen on (default 127.0.0.1; any other requires PLAYHEAD_PASSWORD)',
    },
    data: { type: 'text', value: 'folder', summary: 'Data folder (default ~/.playhead)' },
    'tls-cert': {
      type: 'text',
      value: 'file',
      summary: 'Certificate (PEM), to serve https and gRPC with TLS',
    },
    'tls-key': { type: 'text', value: 'file', summary: 'Its private key (PEM)' },
  },
  examples: [
    ['playhead serve', 'For yourself, on this machine'],
    ['playhead serve --port 4319 --data ./.playhead-data', 'A second server'],
    ['PLAYHEAD_PASSWORD=… playhead serve --host 0.0.0.0', 'For a team'],
    ['PLAYHEAD_PASSWORD=… playhead serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem', 'With TLS'],
  ],
  async run({ options, globals, terminal }) {
    const { serve } = await loadServer()
    ignoreBrokenPipes(terminal)
    await serve({
      ...terminal.environment,
      ...(options.port !== undefined && { PLAYHEAD_PORT: options.port }),
      ...(options.host !== undefined && { PLAYHEAD_HOST: options.host }),
      ...(options.data !== undefined && { PLAYHEAD_DATA: options.data }),
      ...(options['tls-cert'] !== undefined && { PLAYHEAD_TLS_CERT: options['tls-cert'] }),
      ...(options['tls-key'] !== undefined && { PLAYHEAD_TLS_KEY: options['tls-key'] }),
      ...(globals.password !== undefined && { PLAYHEAD_PASSWORD: globals.password }),
    })
  },
})

export const loginLinkCommand = defineCommand({
  name: 'login-link',
  summary: 'Print a link that logs you in once, without the password',
  details:
    "Run it on the server's machine, as a user who can write to its data folder. The link works for 10 minutes, also while too many wrong passwords keep everybody else out.",
  options: {
    data: { type: 'text', value: 'folder', summary: "The server's data folder (default ~/.playhead)" },
  },
  examples: [
    ['playhead login-link', 'For the server that uses ~/.playhead'],
    ['playhead login-link --data /var/lib/playhead', 'For one that uses another folder'],
  ],
  async run({ options, terminal }) {
    const { createLoginLink } = await loadServer()
    const link = await createLoginLink({
      ...terminal.environment,
      ...(options.data !== undefined && { PLAYHEAD_DATA: options.data }),
    })
    if ('problem' in link) throw new CliError(link.problem)
    terminal.print(link.url)
  },
})

/** In `playhead serve | tee log`, Ctrl-C ends `tee` first; the server must survive the broken pipe to shut down cleanly. */
function ignoreBrokenPipes({ stdout, stderr }: Terminal): void {
  for (const stream of [stdout, stderr]) stream.removeAllListeners('error').on('error', () => {})
}

/** Looks beside this package, then in the current folder, because `npx playhead` runs from a cache. */
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
    if (isMissing(error)) throw new CliError(installHint, { cause: error })
    throw error
  }
}

/** True when the server package itself is missing, not one of its dependencies. */
function isMissing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return (
    (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') &&
    message.includes(`'${SERVER_PACKAGE}'`)
  )
}
