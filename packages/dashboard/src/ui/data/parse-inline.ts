/** A piece of a line of markdown. HTML is no piece: it stays text. */
export type Inline =
  | { type: 'text'; text: string }
  | { type: 'code'; text: string }
  | { type: 'strong' | 'emphasis' | 'strike'; children: Inline[] }
  | { type: 'link'; href: string; children: Inline[] }
  | { type: 'break' }

const MOST_OPEN_MARKS = 40
const LONGEST_LABEL = 500
const LONGEST_ADDRESS = 2000

type OpenMark = { character: string; length: number; at: number; canOpen: boolean }

/** Reads emphasis, code, links and line breaks in one pass: the time it takes grows with the text, whatever is in it. */
export function parseInline(text: string, isInLink = false): Inline[] {
  const reader = new InlineReader(text, isInLink)
  return reader.read()
}

/** What a link may lead to; anything else is shown as text. */
export function safeAddress(address: string): string | undefined {
  const trimmed = address.trim()
  return /^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(trimmed) ? trimmed : undefined
}

class InlineReader {
  readonly #text: string
  readonly #isInLink: boolean
  readonly #nodes: Inline[] = []
  readonly #open: OpenMark[] = []
  /** Lengths of backtick runs that are known to have no partner any more. */
  readonly #lonelyTicks = new Set<number>()
  #plain = ''
  #at = 0

  constructor(text: string, isInLink: boolean) {
    this.#text = text
    this.#isInLink = isInLink
  }

  read(): Inline[] {
    while (this.#at < this.#text.length) if (!this.#readSpecial()) this.#plain += this.#text[this.#at++]
    this.#flush()
    return joinTexts(this.#nodes)
  }

  #readSpecial(): boolean {
    switch (this.#text[this.#at]) {
      case '\\':
        return this.#readEscape()
      case '`':
        return this.#readCode()
      case '\n':
        return this.#readBreak()
      case '[':
        return this.#readLink()
      case '<':
        return this.#readAutolink(/^<(https?:\/\/[^\s<>]{1,2000})>/i)
      case 'h':
        return this.#readAutolink(/^(https?:\/\/[^\s<>"'`)\]]{1,2000}[^\s<>"'`)\].,;:!?])/i)
      case '*':
      case '_':
      case '~':
        return this.#readMarks()
      default:
        return false
    }
  }

  #readEscape(): boolean {
    const next = this.#text[this.#at + 1]
    if (next === undefined || !/[!-/:-@[-`{-~]/.test(next)) return false
    this.#plain += next
    this.#at += 2
    return true
  }

  #readCode(): boolean {
    const ticks = /^`+/.exec(this.#text.slice(this.#at, this.#at + 100))![0]
    const isKnownLonely = this.#lonelyTicks.has(ticks.length)
    const end = isKnownLonely ? -1 : findTicks(this.#text, this.#at + ticks.length, ticks.length)
    if (end < 0) {
      this.#lonelyTicks.add(ticks.length)
      this.#plain += ticks
      this.#at += ticks.length
      return true
    }
    const inner = this.#text.slice(this.#at + ticks.length, end).replaceAll('\n', ' ')
    const isPadded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== ''
    this.#add({ type: 'code', text: isPadded ? inner.slice(1, -1) : inner })
    this.#at = end + ticks.length
    return true
  }

  #readBreak(): boolean {
    this.#plain = this.#plain.replace(/ +$/, '')
    this.#add({ type: 'break' })
    this.#at += 1
    return true
  }

  /** Images are links too: nothing that a stranger names is loaded. */
  #readLink(): boolean {
    if (this.#isInLink) return false
    const part = this.#text.slice(this.#at, this.#at + LONGEST_LABEL + LONGEST_ADDRESS)
    const match =
      /^\[([^\][]{0,500})\]\(\s*<?([^\s()<>]{1,2000}(?:\([^\s()<>]*\)[^\s()<>]*)?)>?(?:\s+["'(][^"'()]*["')])?\s*\)/.exec(
        part,
      )
    const href = match === null ? undefined : safeAddress(match[2]!)
    if (match === null || href === undefined) return false
    if (this.#plain.endsWith('!')) this.#plain = this.#plain.slice(0, -1)
    this.#add({ type: 'link', href, children: parseInline(match[1] || match[2]!, true) })
    this.#at += match[0].length
    return true
  }

  #readAutolink(pattern: RegExp): boolean {
    if (this.#isInLink || /\w$/.test(this.#plain)) return false
    const match = pattern.exec(this.#text.slice(this.#at, this.#at + LONGEST_ADDRESS + 2))
    const href = match === null ? undefined : safeAddress(match[1]!)
    if (match === null || href === undefined) return false
    this.#add({ type: 'link', href, children: [{ type: 'text', text: href }] })
    this.#at += match[0].length
    return true
  }

  #readMarks(): boolean {
    const character = this.#text[this.#at]!
    let end = this.#at
    while (this.#text[end] === character && end - this.#at < 3) end += 1
    const length = end - this.#at
    if (character === '~' && length !== 2) return false
    const before = this.#text[this.#at - 1] ?? ' '
    const after = this.#text[end] ?? ' '
    const isWordBoth = /\w/.test(before) && /\w/.test(after)
    const canOpen = !/\s/.test(after) && !(character === '_' && isWordBoth)
    const canClose = !/\s/.test(before) && !(character === '_' && isWordBoth)
    this.#at = end
    if (canClose && this.#close(character, length)) return true
    this.#flush()
    if (canOpen) {
      this.#open.push({ character, length, at: this.#nodes.length, canOpen })
      if (this.#open.length > MOST_OPEN_MARKS) this.#open.shift()
    }
    this.#nodes.push({ type: 'text', text: character.repeat(length) })
    return true
  }

  #close(character: string, length: number): boolean {
    const index = this.#open.findLastIndex((mark) => mark.character === character && mark.length === length)
    if (index < 0) return false
    const { at } = this.#open[index]!
    this.#flush()
    const children = joinTexts(this.#nodes.slice(at + 1))
    if (children.length === 0) return false
    this.#open.length = index
    this.#nodes.length = at
    this.#nodes.push(wrap(character, length, children))
    return true
  }

  #add(node: Inline): void {
    this.#flush()
    this.#nodes.push(node)
  }

  #flush(): void {
    if (this.#plain !== '') this.#nodes.push({ type: 'text', text: this.#plain })
    this.#plain = ''
  }
}

function wrap(character: string, length: number, children: Inline[]): Inline {
  if (character === '~') return { type: 'strike', children }
  if (length === 1) return { type: 'emphasis', children }
  if (length === 2) return { type: 'strong', children }
  return { type: 'strong', children: [{ type: 'emphasis', children }] }
}

function findTicks(text: string, from: number, length: number): number {
  for (let at = text.indexOf('`', from); at >= 0; at = text.indexOf('`', at)) {
    let end = at
    while (text[end] === '`') end += 1
    if (end - at === length) return at
    at = end
  }
  return -1
}

function joinTexts(nodes: readonly Inline[]): Inline[] {
  const joined: Inline[] = []
  for (const node of nodes) {
    const last = joined.at(-1)
    if (node.type === 'text' && last?.type === 'text')
      joined[joined.length - 1] = { type: 'text', text: last.text + node.text }
    else joined.push(node)
  }
  return joined
}
