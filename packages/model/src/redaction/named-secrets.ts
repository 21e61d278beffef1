import { REDACTED } from './secret-keys.ts'

/** Endings of names that always hold a secret. */
const endings = String.raw`authorization|api[-_]?(?:key|token)|access[-_]?key(?:[-_]?id)?|(?:access|auth|bearer|refresh|session|csrf|xsrf|id)[-_]?token|secret(?:[-_]?key)?|passphrase|passwd|password|private[-_]?key|cookie`
/** Names that hold a secret when they are the whole key. */
const keys = ['token', 'pwd', 'cvv', 'cvc', 'auth', 'credentials', 'cardnumber']
const headerNames = String.raw`(?:proxy-)?authorization|x-api-key|(?:set-)?cookie`
const headerLine = new RegExp(String.raw`(?:^|[^\w-]|\\[bfnrt])(?:${headerNames})$`, 'i')
/** For Node's raw headers, which are flat lists of names and values. */
const pairSign = String.raw`(?:${headerNames})\\{0,64}"[ \t]{0,3},`

export type NamedMask = (text: string) => string

/** Masks values after the name of a secret: in nested JSON, printed objects, query strings, settings and headers. */
export const maskNamed: NamedMask = (text) => (anySign.test(text) ? maskBuiltIn(text) : text)

/** `added`: more names of keys, letters and digits only. */
export function createNamedMask(added: readonly string[]): NamedMask {
  const ofKeys = [...keys, ...added].filter((name) => name !== '').map(spelledAnyWay)
  const name = String.raw`(?:${endings}|["'.](?:${ofKeys.join('|')})(?=\\{0,64}["']))`
  // Starts with the separator, so that names are not searched at every letter.
  const sign = new RegExp(String.raw`[:=,](?<=${name}\\{0,64}["']?[ \t]{0,3}[:=]|${pairSign})`, 'gi')
  return (text) => maskValues(text, sign)
}

/** A quick test that most texts fail. */
const anySign =
  /[:=,](?<=(?:authorization|key|key[-_]?id|token|secret|passphrase|passwd|password|cookie|pwd|cvv|cvc|auth|credentials|number)\\{0,64}["']?[ \t]{0,3}[:=]|(?:authorization|key|cookie)\\{0,64}"[ \t]{0,3},)/i

/** Matches `customer_name` and `Customer-Name` for `customername`. */
function spelledAnyWay(name: string): string {
  const letters = Array.from(name, (letter) => letter.replace(/[^\p{L}\p{N}]/u, String.raw`\$&`))
  return letters.join('[-_ ]?')
}

function maskValues(text: string, sign: RegExp): string {
  sign.lastIndex = 0
  let masked = ''
  let from = 0
  for (let found = sign.exec(text); found !== null; found = sign.exec(text)) {
    for (const [start, end, mask] of valuesAt(text, found.index)) {
      masked += text.slice(from, start) + mask
      from = end
    }
    sign.lastIndex = Math.max(from, found.index + 1)
  }
  return from === 0 ? text : masked + text.slice(from)
}

const maskBuiltIn = createNamedMask([])

type Masked = [start: number, end: number, mask: string]

/** The secret values after a separator. */
function valuesAt(text: string, separator: number): Masked[] {
  const keyEnd = beforeBlanks(text, separator)
  const isKeyQuoted = text[keyEnd] === '"' || text[keyEnd] === "'"
  const start = afterBlanks(text, separator + 1)
  const quoted = quotedAt(text, start)
  if (quoted !== undefined) {
    const escapes = quoted[0] - start - 1
    const isOfKey = !isKeyQuoted || escapes === backslashesBefore(text, keyEnd, 0)
    const isWord = text[separator] === ',' && /^[a-z_-]+$/i.test(text.slice(quoted[0], quoted[1]))
    return isOfKey && !isWord && !isStructure(text, quoted, escapes) ? [quoted] : []
  }
  if (text[separator] === ',') return []
  if (text[separator] === '=') return valueOfSetting(text, separator, start)
  if (isKeyQuoted) return text[start] === '[' ? listAt(text, start + 1) : numberAt(text, separator, start)
  if (headerLine.test(text.slice(Math.max(0, separator - 24), separator))) return lineAt(text, start)
  return secretLookingAt(text, start)
}

/** True for an empty match, or a quote that closed a JSON string instead of opening a value. */
function isStructure(text: string, [start, end]: Masked, escapes: number): boolean {
  return start === end || (escapes === 0 && /[\]},:]/.test(text[start]!))
}

/** A quoted string, possibly escaped (JSON in JSON) or cut. */
function quotedAt(text: string, start: number): Masked | undefined {
  const [, escape, quote] = opening(text, start) ?? []
  if (escape === undefined || quote === undefined) return undefined
  const first = start + escape.length + 1
  let at = first
  for (;;) {
    const close = text.indexOf(quote, at)
    if (close === -1) return [first, text.length, REDACTED]
    const escapes = backslashesBefore(text, close, first)
    const isEnd = escape === '' ? escapes % 2 === 0 : escapes === escape.length
    if (isEnd) return [first, close - escape.length, REDACTED]
    at = close + 1
  }
}

const openingQuote = /(\\{0,64})(["'])/y

function opening(text: string, start: number): RegExpExecArray | null {
  openingQuote.lastIndex = start
  return openingQuote.exec(text)
}

function backslashesBefore(text: string, index: number, first: number): number {
  let count = 0
  while (index - 1 - count >= first && text[index - 1 - count] === '\\') count += 1
  return count
}

/** The strings of a list. */
function listAt(text: string, start: number): Masked[] {
  const found: Masked[] = []
  const next = /[,\s]{0,40}/y
  for (let at = start; ;) {
    next.lastIndex = at
    at += next.exec(text)![0].length
    const value = quotedAt(text, at)
    if (value === undefined) return found
    if (value[0] !== value[1]) found.push(value)
    const close = text.indexOf(text[value[0] - 1]!, value[1])
    if (close === -1) return found
    at = close + 1
  }
}

const number = /-?\d[\d.eE+-]*/y

/** Replaces a number with a string, quoted like its key, so that it stays valid JSON. */
function numberAt(text: string, separator: number, start: number): Masked[] {
  number.lastIndex = start
  const found = number.exec(text)
  if (found === null) return []
  const quote = beforeBlanks(text, separator)
  const mark = text.slice(quote - backslashesBefore(text, quote, 0), quote + 1)
  return [[start, start + found[0].length, mark + REDACTED + mark]]
}

const bareValue = /[^&;\s"'\\]{3,}/y
/** Bounded, since a longer text without digits would be scanned again from every name in it. */
const bareInText = /[^\s"'\\,;]{6,400}/y

/** Any value after `name=`; after `name = `, which may be code, only what looks like a secret. */
function valueOfSetting(text: string, separator: number, start: number): Masked[] {
  if (text[separator + 1] === '=' || text[separator + 1] === '>') return []
  const isTight = start === separator + 1 && beforeBlanks(text, separator) === separator - 1
  if (!isTight) return secretLookingAt(text, start)
  bareValue.lastIndex = start
  const found = bareValue.exec(text)?.[0].replace(/[,)\]}]+$/, '')
  const isMasked = found === REDACTED.slice(0, -1)
  return found === undefined || found === '' || isMasked ? [] : [[start, start + found.length, REDACTED]]
}

/** Code and placeholders: `process.env.KEY`, `getKey()`, `${KEY}`, `<your key>`. */
const notYetAValue = /^(?:[$<{[%*]|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$]|[([]))|\($/

function secretLookingAt(text: string, start: number): Masked[] {
  bareInText.lastIndex = start
  const found = bareInText.exec(text)?.[0].replace(/[.)\]}]+$/, '')
  if (found === undefined || notYetAValue.test(found)) return []
  const isLike = /\d/.test(found) ? found.length >= 6 : found.length >= 12 && /[a-z][A-Z]/.test(found)
  return isLike ? [[start, start + found.length, REDACTED]] : []
}

const restOfLine = /[^\r\n"'\\]+/y

function lineAt(text: string, start: number): Masked[] {
  restOfLine.lastIndex = start
  const found = restOfLine.exec(text)?.[0]
  return found === undefined ? [] : [[start, start + found.length, REDACTED]]
}

/** A value further away belongs to something else. */
const MAX_BLANKS = 40

function afterBlanks(text: string, start: number): number {
  let at = start
  while (at - start < MAX_BLANKS && (text[at] === ' ' || text[at] === '\t')) at += 1
  return at
}

function beforeBlanks(text: string, end: number): number {
  let at = end - 1
  while (end - at < MAX_BLANKS && (text[at] === ' ' || text[at] === '\t')) at -= 1
  return at
}
