import { createHash } from 'node:crypto'

/**
 * The same error in other words: what differs from run to run (numbers, ids, quoted values, times) is taken out of the
 * message, so that one bug is one group.
 */
export function errorFingerprint(type: string, message: string, where: string): string {
  const pattern = message
    .slice(0, 500)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '#')
    .replaceAll(/(["'`])(?:(?!\1).){1,200}\1/g, '#')
    .replaceAll(/\b(?=\w*\d)[\w-]{6,}\b/g, '#')
    .replaceAll(/\d+/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return createHash('sha1').update(`${type}\0${pattern}\0${where}`).digest('hex').slice(0, 16)
}
