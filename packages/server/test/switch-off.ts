import { onTestFinished } from 'vitest'

/** Takes a protection away: replaces something of the running server for the rest of the test. */
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
