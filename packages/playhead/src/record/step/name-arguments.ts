import * as types from 'node:util/types'
import type { ParameterName, ParameterNames } from './parameter-names.ts'

/**
 * Arguments by name, whatever the style of the function: a destructured object gives its properties, and what has no
 * name of its own gets its position as its name. A list if no names are known. What the function does not declare is
 * left out: frameworks pass their own state as a further argument to every tool.
 */
export function nameArguments(known: ParameterNames | undefined, given: readonly unknown[]): unknown {
  if (known === undefined) return given
  const { names, isRest, count } = known
  const args = given.length > count ? given.slice(0, count) : given
  if (names.length === 0 && args.length > 0) return args
  const [only] = args
  const isDestructuredOnly = names.length === 1 && typeof names[0] !== 'string' && args.length === 1
  if (isDestructuredOnly && typeof only === 'object' && only !== null && propertiesOf(only) === undefined)
    return only
  const named: Record<string, unknown> = {}
  for (let index = 0; index < args.length; index += 1) {
    const value = args[index]
    const name = names[index]
    if (isRest && index >= names.length - 1) {
      const rest = names.at(-1)
      named[typeof rest === 'string' ? rest : 'rest'] = args.slice(index)
      break
    }
    if (typeof name === 'object' && name !== null) addProperties(named, { names, index, value })
    // JSON has no undefined, and an omitted argument is worth seeing.
    else named[name ?? String(index)] = value === undefined ? null : value
  }
  return named
}

/** Adds the properties of a destructured object in the order in which the function names them. */
function addProperties(
  named: Record<string, unknown>,
  { names, index, value }: { names: readonly ParameterName[]; index: number; value: unknown },
): void {
  if (value === undefined) return
  const properties = propertiesOf(value)
  const isTaken = (key: string) => names.includes(key) || Object.hasOwn(named, key)
  if (properties === undefined || Object.keys(properties).some(isTaken)) {
    named[String(index)] = value
    return
  }
  const declared = (names[index] as readonly string[]).filter((key) => Object.hasOwn(properties, key))
  for (const key of new Set([...declared, ...Object.keys(properties)]))
    Object.defineProperty(named, key, properties[key]!)
}

/** The properties of an object as they are, without running its getters; undefined for anything but a plain object. */
function propertiesOf(value: unknown): Record<string, PropertyDescriptor> | undefined {
  if (typeof value !== 'object' || value === null || types.isProxy(value)) return undefined
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  const properties = Object.entries(Object.getOwnPropertyDescriptors(value))
  return Object.fromEntries(properties.filter(([, { enumerable }]) => enumerable))
}
