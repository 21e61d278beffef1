/** Finds where things stand in JSON with comments, so that everything around them stays as it is. */
class Scanner {
  readonly text: string
  at = 0

  constructor(text: string, at = 0) {
    this.text = text
    this.at = at
  }

  /** Skips white space and comments. */
  skip(): void {
    const between = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y
    between.lastIndex = this.at
    this.at += between.exec(this.text)![0].length
  }

  /** The end of the value that begins here. */
  endOfValue(): number {
    this.skip()
    const first = this.text[this.at]
    if (first === '"') return this.#endOf(/"(?:\\.|[^"\\])*"/y)
    if (first !== '{' && first !== '[') return this.#endOf(/[^\s,}\]/]+/y)
    let depth = 0
    while (this.at < this.text.length) {
      const character = this.text[this.at]!
      if (character === '"') this.at = this.#endOf(/"(?:\\.|[^"\\])*"/y)
      else if (character === '/') this.skip()
      else {
        if ('{['.includes(character)) depth += 1
        if ('}]'.includes(character)) depth -= 1
        this.at += 1
        if (depth === 0) return this.at
      }
    }
    throw new SyntaxError('it ends in the middle of a value')
  }

  #endOf(pattern: RegExp): number {
    pattern.lastIndex = this.at
    const match = pattern.exec(this.text)
    if (match === null) throw new SyntaxError(`there is no value at character ${this.at}`)
    return this.at + match[0].length
  }
}

type Member = { valueStart: number; valueEnd: number }

/** The members of the object that begins at `start`. */
function membersOf(text: string, start: number): Map<string, Member> {
  const scanner = new Scanner(text, start)
  scanner.skip()
  if (text[scanner.at] !== '{') throw new SyntaxError('an object was expected')
  scanner.at += 1
  const members = new Map<string, Member>()
  for (;;) {
    scanner.skip()
    if (text[scanner.at] === '}') return members
    const keyStart = scanner.at
    scanner.at = scanner.endOfValue()
    const key = JSON.parse(text.slice(keyStart, scanner.at)) as string
    scanner.skip()
    if (text[scanner.at] !== ':') throw new SyntaxError(`a colon is missing after "${key}"`)
    scanner.at += 1
    scanner.skip()
    const valueStart = scanner.at
    scanner.at = scanner.endOfValue()
    members.set(key, { valueStart, valueEnd: scanner.at })
    scanner.skip()
    if (text[scanner.at] === ',') scanner.at += 1
  }
}

/** Sets `section.name` in JSON with comments. Throws a `SyntaxError` if the text is not that. */
export function mergeJson(text: string, section: string, name: string, value: object): string {
  if (text.trim() === '') return `${JSON.stringify({ [section]: { [name]: value } }, undefined, 2)}\n`
  const start = new Scanner(text)
  start.skip()
  const sections = membersOf(text, start.at)
  const known = sections.get(section)
  if (known === undefined) return insert(text, start.at, section, { [name]: value }, sections.size > 0, 1)
  const entries = membersOf(text, known.valueStart)
  const entry = entries.get(name)
  if (entry === undefined) return insert(text, known.valueStart, name, value, entries.size > 0, 2)
  return text.slice(0, entry.valueStart) + indent(value, 2) + text.slice(entry.valueEnd)
}

/** Adds a first member to an object. */
function insert(
  text: string,
  start: number,
  key: string,
  value: object,
  hasMore: boolean,
  depth: number,
): string {
  const pad = '  '.repeat(depth)
  const after = hasMore ? ',' : `\n${'  '.repeat(depth - 1)}`
  const member = `\n${pad}${JSON.stringify(key)}: ${indent(value, depth)}${after}`
  return text.slice(0, start + 1) + member + text.slice(start + 1).replace(/^[ \t]*(?=\})/, '')
}

function indent(value: object, depth: number): string {
  return JSON.stringify(value, undefined, 2).replaceAll('\n', `\n${'  '.repeat(depth)}`)
}

/** Sets a table of a TOML file; the tables below it are part of it. */
export function mergeToml(text: string, table: string, lines: readonly string[]): string {
  const block = [`[${table}]`, ...lines].join('\n')
  const all = text.split('\n')
  const isHeader = (line: string) => /^\s*\[/.test(line)
  const isOurs = (line: string) =>
    new RegExp(String.raw`^\s*\[${table.replaceAll('.', String.raw`\.`)}[.\]]`).test(line)
  const first = all.findIndex(isOurs)
  if (first === -1) return `${text.trimEnd()}${text.trim() === '' ? '' : '\n\n'}${block}\n`
  let end = first
  while (end < all.length && !(isHeader(all[end]!) && !isOurs(all[end]!))) end += 1
  const rest = all.slice(end)
  return [...all.slice(0, first), block, ...(rest.length > 0 ? ['', ...rest] : [''])].join('\n')
}
