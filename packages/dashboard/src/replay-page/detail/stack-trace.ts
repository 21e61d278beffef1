/** One line of a stack trace that names a place in code. */
export type StackFrame = {
  text: string
  /** The source line that Python prints below a place. */
  source?: string
  isLibrary: boolean
}

export type Stack = {
  /** The user's own code, the innermost first. */
  own: StackFrame[]
  library: StackFrame[]
  /** False when no frame could be told from prose: then the trace is shown as it is. */
  isParsed: boolean
}

const MOST_FRAMES = 200

/** Frames of other people's code: packages, the runtime, what has no file. */
const libraryPlaces =
  /node_modules|node:|\(internal\/|[\\/]internal[\\/]|<anonymous>\)?$|\(index \d+\)$|\[native code\]|\(native\)|site-packages|dist-packages|[\\/]lib[\\/]python|[\\/]python\d[\d.]*[\\/]|<frozen|<string>|[\\/]\.bun[\\/]|deno:|ext:|webpack[\\/]runtime/

/** Reads traces of JavaScript and Python. */
export function parseStack(stack: string): Stack {
  const lines = stack.split(/\r\n|\n|\r/).slice(0, 4 * MOST_FRAMES)
  const frames = /^\s*File "/m.test(stack) ? readPython(lines).toReversed() : readJavaScript(lines)
  const kept = frames.slice(0, MOST_FRAMES)
  return {
    own: kept.filter((frame) => !frame.isLibrary),
    library: kept.filter((frame) => frame.isLibrary),
    isParsed: kept.length > 0,
  }
}

/** `at name (file:line:column)`, and Firefox's and Safari's `name@file:line:column`. */
function readJavaScript(lines: readonly string[]): StackFrame[] {
  const frames: StackFrame[] = []
  for (const line of lines) {
    const text = line.trim()
    if (/^at\s+\S/.test(text) || /^\S*@\S+:\d+:\d+$/.test(text))
      frames.push({ text: shorten(text), isLibrary: libraryPlaces.test(text) })
  }
  return frames
}

/** The outermost comes first, and most places have their source line below them. */
function readPython(lines: readonly string[]): StackFrame[] {
  const frames: StackFrame[] = []
  for (const [index, line] of lines.entries()) {
    const place = /^\s*File "([^"]*)", line (\d+)(?:, in (.+))?/.exec(line)
    if (place === null) continue
    const [, file, number, name] = place
    const below = lines[index + 1]
    const source =
      below !== undefined && !/^\s*File "/.test(below) && /^\s{4}/.test(below) ? below.trim() : undefined
    frames.push({
      text: shorten(`at ${name ?? '?'} (${file}:${number})`),
      ...(source !== undefined && { source }),
      isLibrary: libraryPlaces.test(file!),
    })
  }
  return frames
}

/** The file of a URL reads better without its scheme. */
function shorten(text: string): string {
  return text.replaceAll(/file:\/\/\/?/g, '/').slice(0, 500)
}

/** The end of the path tells one file from another; where the project lies is known to who reads it. */
export function withShortPath(frame: string): string {
  return frame.replace(/(?:\/|[A-Za-z]:\\)[^():]*?[\\/]((?:[^\\/():]+[\\/]){2}[^\\/():]+:\d)/, '…/$1')
}

/** The innermost place of the user's own code: "agent.ts:41". */
export function placeOf(stack: string): string | undefined {
  const frame = parseStack(stack).own[0]
  if (frame === undefined) return undefined
  const place = /([^\\/()\s@:]+):(\d+)(?::\d+)?\)?$/.exec(frame.text)
  return place === null ? undefined : `${place[1]}:${place[2]}`
}
