import type { Terminal } from '../terminal/terminal.ts'

/** `flag` is there or not, `text` has one value, `list` may be given several times. */
export type OptionSpec = {
  type: 'flag' | 'text' | 'list'
  /** One letter, for `-o`. */
  short?: string
  /** What stands for the value in the help. */
  value?: string
  summary: string
}

export type OptionSpecs = { readonly [name: string]: OptionSpec }

type ValueOf<Type extends OptionSpec['type']> = Type extends 'flag'
  ? boolean
  : Type extends 'list'
    ? string[]
    : string

export type OptionValues<Specs extends OptionSpecs> = {
  [Name in keyof Specs]?: ValueOf<Specs[Name]['type']>
}

/** What every command takes. */
export const globalOptions = {
  endpoint: {
    type: 'text',
    value: 'url',
    summary: 'where the server is (PLAYHEAD_ENDPOINT; default http://localhost:4318)',
  },
  'api-key': {
    type: 'text',
    value: 'key',
    summary: 'key of a project (PLAYHEAD_API_KEY or AGENTOPS_API_KEY)',
  },
  password: { type: 'text', value: 'text', summary: 'the password people log in with (PLAYHEAD_PASSWORD)' },
  project: {
    type: 'text',
    value: 'id',
    summary: "the project; a key's own when there is a key, else default",
  },
  'no-color': { type: 'flag', summary: 'no colours (NO_COLOR)' },
  help: { type: 'flag', short: 'h', summary: 'this text' },
  version: { type: 'flag', summary: 'the version of playhead' },
} as const satisfies OptionSpecs

export type GlobalOptions = OptionValues<typeof globalOptions>

type Invocation<Specs extends OptionSpecs = OptionSpecs> = {
  options: OptionValues<Specs>
  globals: GlobalOptions
  /** As many as the command has arguments; more where the last one is open. */
  positionals: string[]
  terminal: Terminal
}

type CommandParts = {
  /** One word, or two: "keys create". */
  name: string
  /** Names of what has to follow: `session` is shown as `<session>`. `files…`, as the last, is any number of them. */
  arguments?: readonly string[]
  /** One line, without a full stop. */
  summary: string
  /** What the summary leaves open. */
  details?: string
  examples: readonly (readonly [typed: string, meaning: string])[]
}

/** An entry of the command table. */
export type Command = CommandParts & {
  options: OptionSpecs
  run(invocation: Invocation): Promise<void>
}

type CommandDefinition<Specs extends OptionSpecs> = CommandParts & {
  options: Specs
  run(invocation: Invocation<Specs>): Promise<void>
}

/** Gives `run` the types of the options that are declared beside it. */
export function defineCommand<const Specs extends OptionSpecs>(command: CommandDefinition<Specs>): Command {
  return command
}
