/** The parameters of a function: `isRest` if the last is a rest parameter. It reads the first `count` arguments. */
export type ParameterNames = { names: readonly ParameterName[]; isRest: boolean; count: number }

/** The name of a parameter; of a destructured object the names of its properties; null for a destructured list. */
export type ParameterName = string | readonly string[] | null

/** Longer parameter lists are not read. */
const MAX_LENGTH = 4000
const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200C\u200D]*/u
const bareArrow = /^(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=>/u
/** A function that uses `arguments` may read more than it declares. */
const argumentsObject = /(?<![.\w$'"`])arguments\b(?!\s*[:'"`])/
const openers = new Set(['(', '[', '{'])
const closers = new Set([')', ']', '}'])

/** Reads the names from the function's source; undefined if they can't be told. */
export function readParameterNames(fn: AnyFunction): ParameterNames | undefined {
  const whole = Function.prototype.toString.call(fn)
  const source = whole.slice(0, MAX_LENGTH)
  if (source.includes('[native code]') || source.startsWith('class')) return undefined
  const single = bareArrow.exec(source)
  if (single !== null) return { names: [single[1]!], isRest: false, count: 1 }
  const texts = splitParameters(source)
  if (texts === undefined) return undefined
  const isRest = texts.at(-1)?.startsWith('...') === true
  const count = isRest || argumentsObject.test(whole) ? Infinity : texts.length
  return { names: texts.map(nameOf), isRest, count }
}

function nameOf(parameter: string): ParameterName {
  const text = parameter.replace(/^\.\.\./, '')
  if (!text.startsWith('{')) return identifier.exec(text)?.[0] ?? null
  const properties = splitParameters(`(${text.slice(1)}`) ?? []
  return properties.flatMap((property) => identifier.exec(property)?.[0] ?? [])
}

/** Splits the first pair of parentheses at its commas; comments and strings are skipped. */
function splitParameters(source: string): string[] | undefined {
  const parameters: string[] = []
  let depth = 0
  let text = ''
  for (let index = source.startsWith('[') ? source.indexOf(']') : 0; index < source.length; index += 1) {
    const skipped = endOfSkipped(source, index)
    if (skipped > index) {
      index = skipped - 1
      continue
    }
    const character = source[index]!
    if (depth === 0) {
      if (character === '(') depth = 1
      else if (character === '{' || character === '=') return undefined
      continue
    }
    if (closers.has(character)) depth -= 1
    if (depth === 0 || (depth === 1 && character === ',')) {
      if (text.trim() !== '') parameters.push(text.trim())
      text = ''
      if (depth === 0) return parameters
      continue
    }
    if (openers.has(character)) depth += 1
    text += character
  }
  return undefined
}

/** The index after a comment or string that starts here; otherwise the index itself. */
function endOfSkipped(source: string, index: number): number {
  const two = source.slice(index, index + 2)
  if (two === '//') return endAfter(source, '\n', index)
  if (two === '/*') return endAfter(source, '*/', index + 2)
  const quote = two[0]
  if (quote !== '"' && quote !== "'" && quote !== '`') return index
  for (let end = index + 1; end < source.length; end += 1) {
    if (source[end] === '\\') end += 1
    else if (source[end] === quote) return end + 1
  }
  return source.length
}

function endAfter(source: string, mark: string, from: number): number {
  const end = source.indexOf(mark, from)
  return end === -1 ? source.length : end + mark.length
}

export type AnyFunction = (...args: never[]) => unknown
