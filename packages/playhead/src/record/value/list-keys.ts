/** An object with more keys is wide: only its first keys are written. */
const MAX_KEYS = 20_000
const KEPT_KEYS = 1000

/** The first keys of objects that have more. */
const wideObjects = new WeakMap<object, readonly string[]>()
let hasWideObject = false

/**
 * The enumerable keys of an object, up to a limit. Node can only list all keys at once, which takes 300 ms for a million of
 * them. So the first ones of such an object are remembered: it costs that time once, not with every call.
 */
export function listKeys(value: object): { keys: readonly string[]; isComplete: boolean } {
  const known = hasWideObject ? wideObjects.get(value) : undefined
  if (known !== undefined) return { keys: known, isComplete: false }
  const keys = Object.keys(value)
  if (keys.length <= MAX_KEYS) return { keys, isComplete: true }
  const first = keys.slice(0, KEPT_KEYS)
  wideObjects.set(value, first)
  hasWideObject = true
  return { keys: first, isComplete: false }
}
