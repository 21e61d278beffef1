import { parseArgs } from 'node:util'
import { UsageError } from '../terminal/cli-error.ts'
import {
  globalOptions,
  type Command,
  type GlobalOptions,
  type OptionSpec,
  type OptionSpecs,
} from './command.ts'
import { didYouMean } from './option-values.ts'

type Values = { [name: string]: string | boolean | string[] }

export type Parsed =
  | { kind: 'version' }
  /** `commands` are the ones to explain: all of them when none was named. */
  | { kind: 'help'; commands: readonly Command[] }
  | { kind: 'run'; command: Command; options: Values; globals: GlobalOptions; positionals: string[] }

/** Finds the command and parses its options; throws a `UsageError` with a suggestion when it can't. */
export function parseArguments(args: readonly string[], commands: readonly Command[]): Parsed {
  const { words, values } = readWords(args, commands)
  const isHelp = values.help === true || words[0]?.text === 'help'
  if (words[0]?.text === 'help') words.shift()
  if (words.length === 0) {
    if (values.version === true) return { kind: 'version' }
    if (!isHelp && args.length > 0) parseOptions(args, globalOptions, '')
    return { kind: 'help', commands }
  }
  const found = findCommands(words, commands, isHelp)
  if (isHelp) return { kind: 'help', commands: found }
  const [command] = found
  if (command === undefined) throw new UsageError('No command given.')
  const wordCount = command.name.split(' ').length
  const indexes = new Set(words.slice(0, wordCount).map(({ index }) => index))
  return parseCommand(
    command,
    args.filter((_, index) => !indexes.has(index)),
  )
}

type Word = { text: string; index: number }

/** The words between the options. An option name takes a value in every command or in none, so this works before the command is known. */
function readWords(args: readonly string[], commands: readonly Command[]): { words: Word[]; values: Values } {
  const specs: OptionSpecs = Object.assign({}, ...commands.map(({ options }) => options), globalOptions)
  const { tokens, values } = parseArgs({
    args: [...args],
    options: toParseOptions(specs),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const words = tokens.flatMap((token) =>
    token.kind === 'positional' ? [{ text: token.value, index: token.index }] : [],
  )
  return { words, values: values as Values }
}

/** The command with that name, or for help on a group (`playhead keys --help`) all of its commands. */
function findCommands(words: readonly Word[], commands: readonly Command[], isHelp: boolean): Command[] {
  const [first = '', second] = words.map(({ text }) => text)
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  const named = (wanted: string) => commands.find(({ name }) => name === wanted)
  const exact = named(`${first} ${second}`) ?? named(first)
  if (exact !== undefined) return isHelp && second === undefined ? [exact, ...group] : [exact]
  if (group.length === 0) throw unknownCommand(first, commands)
  if (isHelp && second === undefined) return group
  const available = `Available: ${group.map(({ name }) => `playhead ${name}`).join(', ')}`
  if (second === undefined) throw new UsageError(`"${first}" needs a subcommand.\n${available}`)
  const seconds = group.map(({ name }) => name.slice(first.length + 1))
  const suggestion = didYouMean(second, seconds, `${first} `)
  throw new UsageError(`Unknown command "${first} ${second}".${suggestion}\n${available}`)
}

function unknownCommand(typed: string, commands: readonly Command[]): UsageError {
  const names = [...new Set(commands.map(({ name }) => name.split(' ')[0]!))]
  return new UsageError(
    `Unknown command "${typed}".${didYouMean(typed, names)}\nTo see all commands: playhead --help`,
  )
}

function parseCommand(command: Command, args: readonly string[]): Parsed {
  const specs = { ...command.options, ...globalOptions }
  const { values, positionals } = parseOptions(args, specs, command.name)
  if (values.version === true) return { kind: 'version' }
  const names = command.arguments ?? []
  const isVariadic = names.at(-1)?.endsWith('…') === true
  const missing = isVariadic ? names.slice(0, -1)[positionals.length] : names[positionals.length]
  const usage = `For usage: playhead ${command.name} --help`
  if (missing !== undefined) throw new UsageError(`Missing argument <${missing}>.\n${usage}`)
  const extra = isVariadic ? undefined : positionals[names.length]
  if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".\n${usage}`)
  const [options, globals]: [Values, Values] = [{}, {}]
  for (const [name, value] of Object.entries(values))
    (Object.hasOwn(command.options, name) ? options : globals)[name] = value
  return { kind: 'run', command, options, globals, positionals }
}

/** Rejects unknown options and missing values. */
function parseOptions(args: readonly string[], specs: OptionSpecs, commandName: string) {
  const { tokens, values, positionals } = parseArgs({
    args: [...args],
    options: toParseOptions(specs),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined
    if (spec === undefined) throw unknownOption(token.rawName, specs, commandName)
    checkValue(spec, token)
  }
  return { values: values as Values, positionals }
}

function checkValue(
  spec: OptionSpec,
  {
    rawName,
    value,
    inlineValue,
  }: { rawName: string; value?: string | undefined; inlineValue?: boolean | undefined },
): void {
  if (spec.type === 'flag') {
    if (value !== undefined) throw new UsageError(`${rawName} doesn't take a value.`)
    return
  }
  const example = `${rawName} <${spec.value ?? 'value'}>`
  if (value === undefined || value === '') throw new UsageError(`${rawName} needs a value: ${example}`)
  if (inlineValue !== true && /^-./.test(value))
    throw new UsageError(
      `${rawName} needs a value: ${example}. If it starts with a dash, write ${rawName}=${value}`,
    )
}

function unknownOption(rawName: string, specs: OptionSpecs, commandName: string): UsageError {
  const isLong = rawName.startsWith('--')
  const suggestion = isLong ? didYouMean(rawName.slice(2), Object.keys(specs), '--') : ''
  const help = ['playhead', commandName, '--help'].filter((part) => part !== '').join(' ')
  return new UsageError(`Unknown option ${rawName}.${suggestion}\nTo see all options: ${help}`)
}

function toParseOptions(specs: OptionSpecs) {
  return Object.fromEntries(
    Object.entries(specs).map(([name, { type, short }]) => [
      name,
      {
        type: type === 'flag' ? ('boolean' as const) : ('string' as const),
        multiple: type === 'list',
        ...(short !== undefined && { short }),
      },
    ]),
  )
}
