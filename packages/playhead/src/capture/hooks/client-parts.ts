import { toObject, toText } from '../json-value.ts'

/** Where a client sends its calls. */
export function baseUrlOf(client: object, usual: string): URL {
  const given = toText(toObject(client).baseURL)
  return new URL(given !== undefined && URL.canParse(given) ? given : usual)
}

/** `withOptions` makes another client: it is wrapped as well. */
export function rewrapCopies(client: object, wrap: (copy: object) => object): void {
  const target = client as Record<string, unknown>
  const copy = target.withOptions
  if (typeof copy !== 'function' || Object.hasOwn(client, 'withOptions')) return
  const withOptions = function withOptions(this: unknown, ...given: unknown[]): unknown {
    return wrap(Reflect.apply(copy, this, given) as object)
  }
  Reflect.defineProperty(target, 'withOptions', { value: withOptions, configurable: true, writable: true })
}
