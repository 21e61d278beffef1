/** One frame of a stack trace. */
export type StackFrame = {
  text: string
  /** The source line that Python prints below a frame. */
  source?: string
  isLibrary: boolean
}

export type Stack = {
  /** Frames of the user's own code, innermost first. */
  own: StackFrame[]
  library: StackFrame[]
  /** False when no frame was recognized; the trace is then shown as text. */
  isParsed: boolean
}

const MAX_FRAMES = 200

/** Paths of packages, of the runtime and of code without a file. */
const libraryPlaces =
  /node_modules|node:|\(internal\/|[\\/]internal[\\/]|<anonymous>\)?$|\(index \d+\)$|\[native code\]|\(native\)|site-packages|dist-packages|[\\/]lib[\\/]python|[\\/]python\d[\d.]*[\\/]|<frozen|<string>|[\\/]\.bun[\\/]|deno:|ext:|webpack[\\/]runtime/

/** Parses JavaScript and Python stack traces. */
export function parseStack(stack: string): Stack {
  const lines = stack.split(/\r\n|\n|\r/).slice(0, 4 * MAX_FRAMES)
  const frames = /^\s*File "/m.test(stack) ? parsePython(lines).toReversed() : parseJavaScript(lines)
  const kept = frames.slice(0, MAX_FRAMES)
  return {
    own: kept.filter((frame) => !frame.isLibrary),
    library: kept.filter((frame) => frame.isLibrary),
    isParsed: kept.length > 0,
  }
}

/** `at name (file:line:column)`, and Firefox's and Safari's `name@file:line:column`. */
function parseJavaScript(lines: readonly string[]): StackFrame[] {
  const frames: StackFrame[] = []
  for (const line of lines) {
    const text = line.trim()
    if (/^at\s+\S/.test(text) || /^\S*@\S+:\d+:\d+$/.test(text))
      frames.push({ text: shorten(text), isLibrary: libraryPlaces.test(text) })
  }
  return frames
}

/** Python prints the outermost frame first, and the source line below most frames. */
function parsePython(lines: readonly string[]): StackFrame[] {
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

/** Drops the `file://` scheme. */
function shorten(text: string): string {
  return text.replaceAll(/file:\/\/\/?/g, '/').slice(0, 500)
}

/** Keeps the last three parts of a path: the reader knows where the project is. */
export function withShortPath(frame: string): string {
  return frame.replace(/(?:\/|[A-Za-z]:\\)[^():]*?[\\/]((?:[^\\/():]+[\\/]){2}[^\\/():]+:\d)/, '…/$1')
}

/** File and line of the innermost frame of the user's own code: "agent.ts:41". */
export function ownFrameOf(stack: string): string | undefined {
  const frame = parseStack(stack).own[0]
  if (frame === undefined) return undefined
  const place = /([^\\/()\s@:]+):(\d+)(?::\d+)?\)?$/.exec(frame.text)
  return place === null ? undefined : `${place[1]}:${place[2]}`
}
