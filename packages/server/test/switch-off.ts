import { onTestFinished } from 'vitest'

/** Disables a protection: replaces a member of an object until the end of the test. */
export function switchOff<Holder extends object, Name extends keyof Holder>(
  holder: Holder,
  name: Name,
  replacement: Holder[Name],
): void {
  const isOwn = Object.hasOwn(holder, name)
  const original = holder[name]
  holder[name] = replacement
  onTestFinished(() => {
    if (isOwn) holder[name] = original
    else delete (holder as Partial<Holder>)[name]
  })
}
