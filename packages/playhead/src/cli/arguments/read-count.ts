import { UsageError } from '../terminal/cli-error.ts'

/** A whole number from 1 on, as it was typed behind an option. */
export function readCount(option: string, text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0
  if (count < 1 || !Number.isSafeInteger(count))
    throw new UsageError(`${option} is "${text}"; it must be a whole number from 1 on.`)
  return count
}
