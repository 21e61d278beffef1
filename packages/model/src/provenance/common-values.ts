const SHORTEST = 3

/** Words that stand in too many places for any of them to be the source. */
const common: ReadonlySet<string> = new Set(
  `true false null none undefined unknown default yes not the and for with from this that all any new old get set put post
  add run use name type text json xml html http https string number boolean object array list item items data value values
  input output result results error errors status success failed failure fail pending active inactive open closed done
  low high medium normal small large first last next asc desc auto user users system assistant model tool test main other
  title description content message messages query question answer reply key keys file files page size limit offset count
  total amount date time day days today now usd eur en-us eng english one two three`.split(/\s+/),
)

/** True for a value that says enough to be found again: not short, not a common word, not a truth value. */
export function isTelling(value: unknown): value is string | number {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const text = String(value).trim()
  return text.length >= SHORTEST && !common.has(text.toLowerCase())
}

/** Nothing where something could be: null, an empty text or list, or a word for it. */
export function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (typeof value === 'string') return /^\s*(?:null|none|undefined)?\s*$/i.test(value)
  return typeof value === 'object' && Object.keys(value).length === 0
}
