import type { Painter } from '../terminal/terminal.ts'
import { globalOptions, type Command, type OptionSpecs } from './command.ts'

/** The text of `playhead --help`. */
export function renderOverview(commands: readonly Command[], paint: Painter): string {
  const lines = commands.map((command): [string, string] => [usageOf(command), command.summary])
  return [
    'Playhead records what an AI agent does, lets you replay it, and lets you test it.',
    `${paint('bold', 'Usage:')} playhead <command> [options]`,
    `${paint('bold', 'Commands:')}\n${renderPairs(lines)}`,
    renderOptions('Global options:', globalOptions, paint),
    'For the options and examples of a command: playhead <command> --help',
  ].join('\n\n')
}

/** The text of `playhead <command> --help`; `playhead keys --help` shows all commands of the group. */
export function renderCommandHelp(commands: readonly Command[], paint: Painter): string {
  const texts = commands.map((command) => renderOne(command, paint))
  return `${texts.join('\n\n\n')}\n\n${renderOptions('Global options:', globalOptions, paint)}`
}

function renderOne(command: Command, paint: Painter): string {
  const hasOptions = Object.keys(command.options).length > 0
  const parts = [
    `${paint('bold', `playhead ${command.name}`)}: ${command.summary}.`,
    ...(command.details === undefined ? [] : [command.details]),
    `${paint('bold', 'Usage:')} playhead ${usageOf(command)} [options]`,
    ...(hasOptions ? [renderOptions('Options:', command.options, paint)] : []),
    `${paint('bold', 'Examples:')}\n${renderPairs(command.examples)}`,
  ]
  return parts.join('\n\n')
}

function usageOf({ name, arguments: names = [] }: Command): string {
  return [
    name,
    ...names.map((argument) => (argument.endsWith('…') ? `[${argument}]` : `<${argument}>`)),
  ].join(' ')
}

function renderOptions(title: string, specs: OptionSpecs, paint: Painter): string {
  const pairs = Object.entries(specs).map(([name, { short, value, type, summary }]): [string, string] => {
    const letter = short === undefined ? '' : `-${short}, `
    const placeholder = type === 'flag' ? '' : ` <${value ?? 'value'}>`
    return [`${letter}--${name}${placeholder}`, summary]
  })
  return `${paint('bold', title)}\n${renderPairs(pairs)}`
}

function renderPairs(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([left]) => left.length))
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join('\n')
}
