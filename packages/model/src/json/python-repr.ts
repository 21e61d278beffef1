import type { JsonObject } from './attribute-value.ts'

/** Longer texts are not worth reading character by character. */
const MAX_LENGTH = 200_000
const MAX_DEPTH = 32

/**
 * Reads what Python's `repr` printed: literals, and objects such as `ToolCall(name='look_up', id=None)`, which become
 * records. Undefined for anything else, or if the text was cut.
 */
export function parsePythonRepr(text: string): unknown {
  return readWhole(text, (reader) => reader.value(0))
}

/** Reads what Python's `str` prints of a Pydantic model: `status='success' result='sunny' error=None`. */
export function parsePrintedFields(text: string): JsonObject | undefined {
  return readWhole(text, (reader) => reader.fields())
}

function readWhole<Value>(text: string, read: (reader: ReprReader) => Value): Value | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const reader = new ReprReader(text)
  try {
    const value = read(reader)
    return reader.isAtEnd() ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const words: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['None', null],
  ['True', true],
  ['False', false],
])

class ReprReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    this.#skipSpace()
    return this.#at === this.#text.length
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new SyntaxError('too deep')
    this.#skipSpace()
    const next = this.#text[this.#at]
    if (next === "'" || next === '"') return this.#string()
    if (next === '{') return this.#braces(depth)
    if (next === '[') return this.#list(']', depth)
    if (next === '(') return this.#list(')', depth)
    if (next === '<') return this.#angles(depth)
    return this.#number() ?? this.#named(depth)
  }

  fields(): JsonObject {
    const record: JsonObject = {}
    while (!this.isAtEnd()) {
      const key = this.#match(/[A-Za-z_]\w*(?==(?!=))/y)
      if (key === undefined) throw new SyntaxError('no name')
      this.#expect('=')
      record[key] = this.value(0)
    }
    return record
  }

  #string(): string {
    const text = this.#match(/'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*"/y)
    if (text === undefined) throw new SyntaxError('an open string')
    return text
      .slice(1, -1)
      .replaceAll(/\\(?:x([\da-f]{2})|u([\da-f]{4})|([^]))/g, (_, hex, unicode, plain) => {
        const code = (hex ?? unicode) as string | undefined
        if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
        return escapes.get(plain as string) ?? (plain as string)
      })
  }

  /** A dictionary, or a set. */
  #braces(depth: number): unknown {
    const record: JsonObject = {}
    const members: unknown[] = []
    this.#items('}', () => {
      const key = this.value(depth + 1)
      if (this.#take(':')) record[String(key)] = this.value(depth + 1)
      else members.push(key)
    })
    return members.length > 0 ? members : record
  }

  #list(end: string, depth: number): unknown[] {
    const list: unknown[] = []
    this.#items(end, () => list.push(this.value(depth + 1)))
    return list
  }

  /** `<Role.USER: 'user'>` is its value; any other object has none. */
  #angles(depth: number): unknown {
    if (this.#match(/<[\w.]+: (?=['"\d])/y) !== undefined) {
      const value = this.value(depth + 1)
      this.#expect('>')
      return value
    }
    if (this.#match(/<[^<>]*>/y) === undefined) throw new SyntaxError('an open object')
    return null
  }

  #number(): number | undefined {
    const text = this.#match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/y)
    return text === undefined ? undefined : Number(text)
  }

  #named(depth: number): unknown {
    const name = this.#match(/[A-Za-z_][\w.]*/y)
    if (name === undefined) throw new SyntaxError('no value')
    if (words.has(name)) return words.get(name)
    this.#expect('(', false)
    this.#at -= 1
    const record: JsonObject = {}
    this.#items(')', () => {
      const key = this.#match(/[A-Za-z_]\w*(?==(?!=))/y)
      if (key !== undefined) this.#expect('=')
      const value = this.value(depth + 1)
      if (key !== undefined) record[key] = value
    })
    return record
  }

  /** Reads items between the bracket at the current place and its end. */
  #items(end: string, readItem: () => void): void {
    this.#at += 1
    while (!this.#take(end)) {
      readItem()
      if (!this.#take(',')) {
        this.#expect(end)
        return
      }
    }
  }

  #take(character: string): boolean {
    this.#skipSpace()
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #expect(character: string, mayHaveSpace = true): void {
    if (mayHaveSpace) this.#skipSpace()
    if (this.#text[this.#at] !== character) throw new SyntaxError(`no ${character}`)
    this.#at += 1
  }

  #match(pattern: RegExp): string | undefined {
    this.#skipSpace()
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #skipSpace(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\n') this.#at += 1
  }
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
])
