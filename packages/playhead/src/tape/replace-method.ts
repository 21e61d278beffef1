// oxlint-disable-next-line typescript/no-explicit-any -- whatever the host passes is passed on
export type AnyMethod = (this: any, ...args: any[]) => any

/** Replaces a method of a module or prototype. The returned function puts the original back, unless somebody replaced ours. */
export function replaceMethod(
  holder: object,
  name: string,
  create: (original: AnyMethod) => AnyMethod,
): () => void {
  const before = Object.getOwnPropertyDescriptor(holder, name)
  const original = (holder as Record<string, unknown>)[name]
  if (typeof original !== 'function') return () => {}
  const replacement = create(original as AnyMethod)
  Object.defineProperty(replacement, 'name', { value: original.name, configurable: true })
  // Some of them carry more, such as the promisified form.
  for (const key of Reflect.ownKeys(original)) {
    if (Object.hasOwn(replacement, key)) continue
    Object.defineProperty(replacement, key, Object.getOwnPropertyDescriptor(original, key)!)
  }
  Object.defineProperty(holder, name, {
    value: replacement,
    configurable: true,
    enumerable: before?.enumerable ?? true,
    writable: true,
  })
  return () => {
    if ((holder as Record<string, unknown>)[name] !== replacement) return
    if (before === undefined) Reflect.deleteProperty(holder, name)
    else Object.defineProperty(holder, name, before)
  }
}
