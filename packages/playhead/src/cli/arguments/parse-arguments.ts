import { parseArgs } from 'node:util'
import { UsageError } from '../terminal/cli-error.ts'
import {
  globalOptions,
  type Command,
  type GlobalOptions,
  type OptionSpec,
  type OptionSpecs,
} from './command.ts'
import { nearestWord } from './option-values.ts'

type Values = { [name: string]: string | boolean | string[] }

export type Parsed =
  | { kind: 'version' }
  /** `commands`: those that the help is about; all of them when none was named. */
  | { kind: 'help'; commands: readonly Command[] }
  | { kind: 'run'; command: Command; options: Values; globals: GlobalOptions; positionals: string[] }

/** Finds the command and reads its options, or says what was meant instead. */
export function parseArguments(args: readonly string[], commands: readonly Command[]): Parsed {
  const { words, values } = readWords(args, commands)
  const isHelp = values.help === true || words[0]?.text === 'help'
  if (words[0]?.text === 'help') words.shift()
  if (words.length === 0) {
    if (values.version === true) return { kind: 'version' }
    if (!isHelp && args.length > 0) parseOptions(args, globalOptions, 'playhead')
    return { kind: 'help', commands }
  }
  const found = findCommands(words, commands, isHelp)
  if (isHelp) return { kind: 'help', commands: found }
  const [command] = found
  if (command === undefined) throw new UsageError('There is no command to run.')
  const wordCount = command.name.split(' ').length
  const indexes = new Set(words.slice(0, wordCount).map(({ index }) => index))
  return parseCommand(
    command,
    args.filter((_, index) => !indexes.has(index)),
  )
}

type Word = { text: string; index: number }

/** The words between the options. Which options take a value is known before the command is: all commands agree on it. */
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

/** The command of that name; several when only the first of two words was given and help is wanted. */
function findCommands(words: readonly Word[], commands: readonly Command[], isHelp: boolean): Command[] {
  const [first = '', second] = words.map(({ text }) => text)
  const exact = commands.find(({ name }) => name === first || name === `${first} ${second}`)
  if (exact !== undefined) return [exact]
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (group.length === 0) throw unknownCommand(first, commands)
  if (isHelp && second === undefined) return group
  const seconds = group.map(({ name }) => name.slice(first.length + 1))
  const choice = `One of: ${group.map(({ name }) => `playhead ${name}`).join(', ')}`
  if (second === undefined) throw new UsageError(`${first} needs another word. ${choice}`)
  const nearest = nearestWord(second, seconds)
  const meant = nearest === undefined ? '' : ` Did you mean "${first} ${nearest}"?`
  throw new UsageError(`There is no command "${first} ${second}".${meant}\n${choice}`)
}

function unknownCommand(typed: string, commands: readonly Command[]): UsageError {
  const names = [...new Set(commands.map(({ name }) => name.split(' ')[0]!))]
  const nearest = nearestWord(typed, names)
  const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
  return new UsageError(`There is no command "${typed}".${meant}\nAll commands: playhead --help`)
}

function parseCommand(command: Command, args: readonly string[]): Parsed {
  const specs = { ...command.options, ...globalOptions }
  const { values, positionals } = parseOptions(args, specs, command.name)
  if (values.version === true) return { kind: 'version' }
  const names = command.arguments ?? []
  const isOpen = names.at(-1)?.endsWith('…') === true
  const missing = isOpen ? names.slice(0, -1)[positionals.length] : names[positionals.length]
  if (missing !== undefined)
    throw new UsageError(
      `${command.name} needs <${missing}>.\nHow it is used: playhead ${command.name} --help`,
    )
  const extra = isOpen ? undefined : positionals[names.length]
  if (extra !== undefined)
    throw new UsageError(
      `${command.name} does not know what to do with "${extra}".\nHow it is used: playhead ${command.name} --help`,
    )
  const [options, globals]: [Values, Values] = [{}, {}]
  for (const [name, value] of Object.entries(values))
    (Object.hasOwn(command.options, name) ? options : globals)[name] = value
  return { kind: 'run', command, options, globals, positionals }
}

/** Reads options strictly: each is known, and has a value when it needs one. */
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
    if (value !== undefined) throw new UsageError(`${rawName} takes no value.`)
    return
  }
  const example = `${rawName} <${spec.value ?? 'value'}>`
  if (value === undefined || value === '') throw new UsageError(`${rawName} needs a value: ${example}`)
  if (inlineValue !== true && /^-./.test(value))
    throw new UsageError(
      `${rawName} needs a value: ${example}. One that begins with a dash: ${rawName}=${value}`,
    )
}

function unknownOption(rawName: string, specs: OptionSpecs, commandName: string): UsageError {
  const nearest = rawName.startsWith('--') ? nearestWord(rawName.slice(2), Object.keys(specs)) : undefined
  const meant = nearest === undefined ? '' : ` Did you mean --${nearest}?`
  const help = commandName === 'playhead' ? 'playhead --help' : `playhead ${commandName} --help`
  return new UsageError(`${commandName} has no option ${rawName}.${meant}\nAll options: ${help}`)
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
