import type { Readable, Writable } from 'node:stream'
import { safeForLog, visibleLines, withoutCommands } from '@playhead/model'

export type Environment = Readonly<Record<string, string | undefined>>

type OutputStream = Writable & { isTTY?: boolean; columns?: number }

export type Streams = {
  stdin: Readable & { isTTY?: boolean }
  stdout: OutputStream
  stderr: OutputStream
  environment: Environment
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

export type Painter = (style: Style, text: string) => string

/** Where commands print: results go to stdout, messages for the person to stderr. */
export type Terminal = Streams & {
  /** True when stdout is a terminal, not a pipe or a file. */
  isInteractive: boolean
  /** In columns. */
  width: number
  isColoured: boolean
  paint: Painter
  /** Prints a line of the result. Whatever it quotes can neither control the terminal nor command the build service. */
  print(line: string): void
  /** Prints commands to the build service, which escape what they quote themselves. */
  printCommands(lines: string): void
  /** Prints a line for the person who typed the command. */
  note(line: string): void
}

const DEFAULT_WIDTH = 100
const NARROWEST = 40

export function createTerminal(streams: Streams, isColourOff = false): Terminal {
  const { stdout, stderr, environment } = streams
  const isColoured = !isColourOff && wantsColour(stdout, environment)
  return {
    ...streams,
    isInteractive: stdout.isTTY === true,
    width: stdout.isTTY === true ? Math.max(NARROWEST, stdout.columns ?? DEFAULT_WIDTH) : DEFAULT_WIDTH,
    isColoured,
    paint: createPainter(isColoured),
    print: (line) => void stdout.write(`${clean(line, isColoured)}\n`),
    printCommands: (lines) => void stdout.write(`${lines}\n`),
    note: (line) => void stderr.write(`${clean(line, isColoured)}\n`),
  }
}

// oxlint-disable-next-line no-control-regex
const ownCodes = /(\u001B\[(?:1|2|22|31|32|33|36|39)m)/

function clean(text: string, isColoured: boolean): string {
  if (!isColoured) return safeForLog(text)
  const parts = text.split(ownCodes).map((part) => (ownCodes.test(part) ? part : visibleLines(part)))
  return withoutCommands(parts.join(''))
}

/** FORCE_COLOR wins over NO_COLOR, as in Node itself. */
function wantsColour(stream: OutputStream, environment: Environment): boolean {
  const forced = environment.FORCE_COLOR
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if (environment.NO_COLOR) return false
  return stream.isTTY === true && environment.TERM !== 'dumb'
}

const codes: Record<Style, [on: number, off: number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
}

function createPainter(isColoured: boolean): Painter {
  if (!isColoured) return (_style, text) => text
  return (style, text) => `\u001B[${codes[style][0]}m${text}\u001B[${codes[style][1]}m`
}
