import { shortSessionId, type ForkEdit } from '@playhead/model'

const DEFAULT_ENDPOINT = /^http:\/\/(localhost|127\.0\.0\.1):4318$/

/** The server of the page, as the command line names it. */
export type Server = { origin: string; project: string; isDefaultProject: boolean }

/** The command line that does what the dialog does. */
export function forkCommand(
  fork: { sessionId: string; stepNumber: number; edit: ForkEdit | undefined; times: number },
  server: Server,
): string {
  const { result, args, system, prompt, model } = fork.edit ?? {}
  const options: [name: string, value: string | undefined][] = [
    ['at', String(fork.stepNumber)],
    ['result', jsonOf(result)],
    ['args', jsonOf(args)],
    ['system', system],
    ['prompt', prompt],
    ['model', model],
    ['times', fork.times === 1 ? undefined : String(fork.times)],
  ]
  return commandLine(['fork', shortSessionId(fork.sessionId)], options, server)
}

/** The command that connects a terminal with this server. */
export function devCommand(server: Server): string {
  return commandLine(['dev'], [], server)
}

function commandLine(
  words: readonly string[],
  options: readonly [name: string, value: string | undefined][],
  { origin, project, isDefaultProject }: Server,
): string {
  const all: typeof options = [
    ...options,
    ['endpoint', DEFAULT_ENDPOINT.test(origin) ? undefined : origin],
    ['project', isDefaultProject ? undefined : project],
  ]
  const given = all.flatMap(([name, value]) =>
    value === undefined
      ? []
      : [value.startsWith('-') ? `--${name}=${quote(value)}` : `--${name} ${quote(value)}`],
  )
  return ['npx playhead', ...words, ...given].join(' ')
}

function jsonOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value)
}

/** Quotes a word for a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
