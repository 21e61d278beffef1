const statedPosition = / at position (\d+)(?: \(line \d+ column \d+\))?$/
const scalar = /(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y
const whitespace = /[ \t\r\n]*/y

/** Finds the position of a JSON syntax error: V8 reports it inside strings and numbers, but not between tokens. */
export function findJsonErrorPosition(text: string, message: string): number {
  const stated = statedPosition.exec(message)?.[1]
  return stated === undefined ? findUnexpectedToken(text) : Number(stated)
}

type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end'

/** Walks the tokens until an unexpected one. Strings are well formed, or V8 would have reported a position. */
function findUnexpectedToken(text: string): number {
  const open: string[] = []
  let expected: Expected = 'value'
  let position = skip(whitespace, text, 0)
  while (position < text.length) {
    const character = text[position]!
    const next = nextExpected(character, expected, open)
    if (next !== null) {
      position++
      expected = next
    } else {
      const end = endOfScalar(text, position, expected)
      if (end === position) return position
      position = end
      expected = expected.startsWith('key') ? 'colon' : 'comma or end'
    }
    position = skip(whitespace, text, position)
  }
  return position
}

/** What may follow a punctuation character that is allowed here; null for any other character. */
function nextExpected(character: string, expected: Expected, open: string[]): Expected | null {
  if (expected.startsWith('value') && (character === '{' || character === '[')) {
    open.push(character)
    return character === '{' ? 'key or end' : 'value or end'
  }
  if (expected === 'colon' && character === ':') return 'value'
  const around = open.at(-1)
  if (around === undefined) return null
  if (expected === 'comma or end' && character === ',') return around === '{' ? 'key' : 'value'
  if (!expected.endsWith('or end') || character !== (around === '{' ? '}' : ']')) return null
  open.pop()
  return 'comma or end'
}

function endOfScalar(text: string, position: number, expected: Expected): number {
  if (expected === 'colon' || expected === 'comma or end') return position
  if (text[position] === '"') return endOfString(text, position)
  return expected.startsWith('key') ? position : skip(scalar, text, position)
}

function endOfString(text: string, start: number): number {
  for (let position = start + 1; position < text.length; position++) {
    if (text[position] === '\\') position++
    else if (text[position] === '"') return position + 1
  }
  return text.length
}

function skip(pattern: RegExp, text: string, position: number): number {
  pattern.lastIndex = position
  return pattern.test(text) ? pattern.lastIndex : position
}
