import type { Terminal } from '../terminal/terminal.ts'

/** A `flag` takes no value, `text` takes one, and a `list` may be repeated. */
export type OptionSpec = {
  type: 'flag' | 'text' | 'list'
  /** One letter, for `-o`. */
  short?: string
  /** The value's placeholder in the help. */
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

/** Options that every command accepts. */
export const globalOptions = {
  endpoint: {
    type: 'text',
    value: 'url',
    summary: 'Server URL (PLAYHEAD_ENDPOINT; default http://localhost:4318)',
  },
  'api-key': {
    type: 'text',
    value: 'key',
    summary: 'API key of a project (PLAYHEAD_API_KEY or AGENTOPS_API_KEY)',
  },
  password: { type: 'text', value: 'text', summary: "The server's login password (PLAYHEAD_PASSWORD)" },
  project: {
    type: 'text',
    value: 'id',
    summary: "Project id (default: the API key's project, otherwise default)",
  },
  'no-color': { type: 'flag', summary: 'Disable colors (NO_COLOR)' },
  help: { type: 'flag', short: 'h', summary: 'Show this help' },
  version: { type: 'flag', summary: 'Show the version' },
} as const satisfies OptionSpecs

export type GlobalOptions = OptionValues<typeof globalOptions>

type Invocation<Specs extends OptionSpecs = OptionSpecs> = {
  options: OptionValues<Specs>
  globals: GlobalOptions
  /** One for each argument of the command; any number for a variadic last one. */
  positionals: string[]
  terminal: Terminal
}

type CommandParts = {
  /** One word, or two: "keys create". */
  name: string
  /** Names of the positional arguments, shown as `<session>`. A last one like `files…` takes any number of values. */
  arguments?: readonly string[]
  /** One line, without a full stop. */
  summary: string
  /** Shown below the summary in the command's own help. */
  details?: string
  examples: readonly (readonly [typed: string, meaning: string])[]
}

/** An entry in the list of commands. */
export type Command = CommandParts & {
  options: OptionSpecs
  run(invocation: Invocation): Promise<void>
}

type CommandDefinition<Specs extends OptionSpecs> = CommandParts & {
  options: Specs
  run(invocation: Invocation<Specs>): Promise<void>
}

/** Infers the types of `run`'s options from their specs. */
export function defineCommand<const Specs extends OptionSpecs>(command: CommandDefinition<Specs>): Command {
  return command
}
