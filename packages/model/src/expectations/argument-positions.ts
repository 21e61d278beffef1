/** An argument at its position, with the name it was recorded under; a destructured object has none. */
export type Position = { value: unknown; name: string }

type Plain = { readonly [name: string]: unknown }

/**
 * The ways to read recorded arguments as a list, likeliest first. Arguments are recorded by name, with the properties of
 * a destructured object among them, so `change("c_42", { plan: "pro" })` is `{ customerId: "c_42", plan: "pro" }`: it is
 * read as two values, as a value and an object, and as one object.
 */
export function readingsOf(actual: unknown, expected: readonly unknown[]): Position[][] {
  if (!isPlain(actual)) return [toList(actual).map((value, index) => ({ value, name: String(index) }))]
  const positions = inOrder(actual)
  const last = positions.at(-1)
  const grouped = groupProperties(positions, expected)
  return [
    positions,
    ...(grouped === undefined ? [] : [grouped]),
    ...(Array.isArray(last?.value) ? [spreadLast(positions, last)] : []),
  ]
}

function toList(actual: unknown): readonly unknown[] {
  if (Array.isArray(actual)) return actual
  return actual === undefined ? [] : [actual]
}

/** An argument without a name is recorded under its position, which JavaScript sorts before the names. */
function inOrder(actual: Plain): Position[] {
  const entries = Object.entries(actual).map(([name, value]) => ({ name, value }))
  const byPosition = entries.filter(({ name }) => /^\d+$/.test(name) && Number(name) < entries.length)
  const ordered = entries.filter((entry) => !byPosition.includes(entry))
  for (const entry of byPosition) ordered.splice(Number(entry.name), 0, entry)
  return ordered
}

/** Gives each expected object the properties it names, and the last one all that are left. */
function groupProperties(
  positions: readonly Position[],
  expected: readonly unknown[],
): Position[] | undefined {
  let left = [...positions]
  let isGrouped = false
  const read: Position[] = []
  for (const [index, value] of expected.entries()) {
    const isLast = index === expected.length - 1
    const group = mayBeGroup(value) ? propertiesFor(value, left, isLast) : []
    if (group.length === 0) {
      read.push(...left.splice(0, 1))
      continue
    }
    isGrouped = true
    left = left.filter((position) => !group.includes(position))
    read.push({ name: '', value: Object.fromEntries(group.map(({ name, value: of }) => [name, of])) })
  }
  return isGrouped ? [...read, ...left] : undefined
}

function propertiesFor(expected: object, left: readonly Position[], isLast: boolean): readonly Position[] {
  const isNamed = isPlain(expected) && !isMatcher(expected)
  if (isNamed && !Object.keys(expected).some((name) => left.some((position) => position.name === name)))
    return []
  if (isLast) return left
  return isNamed ? left.filter(({ name }) => Object.hasOwn(expected, name)) : []
}

function mayBeGroup(expected: unknown): expected is object {
  if (typeof expected === 'function') return true
  return isPlain(expected) && !(expected instanceof RegExp) && !(expected instanceof Date)
}

function isMatcher(value: object): boolean {
  return 'asymmetricMatch' in value
}

/** A rest parameter is recorded as one list. */
function spreadLast(positions: readonly Position[], { name, value }: Position): Position[] {
  const values = value as readonly unknown[]
  return [
    ...positions.slice(0, -1),
    ...values.map((item, index) => ({ value: item, name: `${name}.${index}` })),
  ]
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
