import type { Random } from '../../../../bench/corpus/random.ts'
import { chars, checkDigit } from './planted-secrets.ts'

const digits = '0123456789'
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Texts that resemble secrets: any change to them is a false positive. */
export const innocentKinds: Readonly<Record<string, (random: Random) => string>> = {
  uuid: (random) => {
    const hex = random.hex(32)
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `a${hex.slice(17, 20)}`,
      hex.slice(20),
    ].join('-')
  },
  'git hash': (random) => `commit ${random.hex(40)} (${random.hex(7)})`,
  'trace id': (random) => `00-${random.hex(32)}-${random.hex(16)}-01`,
  sha256: (random) => `sha256:${random.hex(64)}`,
  'order number of 16 digits': (random) => {
    const body = random.pick(['4', '51', '6011']).padEnd(15, chars(random, 15, digits))
    return `order ${body}${(Number(checkDigit(body)) + 1 + random.below(9)) % 10}`
  },
  'time in nanoseconds': (random) =>
    `at ${1_700_000_000 + random.below(90_000_000)}${chars(random, 9, digits)}`,
  'times in a row': (random) =>
    `2026-11-15 10:${random.between(10, 60)}:00.${chars(random, 6, digits)} 2026-11-16`,
  'number with decimals': (random) =>
    `score 0.${chars(random, 16, digits)} of 5.${chars(random, 15, digits)}`,
  'phone number': (random) => `call +49 30 ${chars(random, 4, digits)} ${chars(random, 4, digits)}`,
  'image in base64': (random) => `data:image/png;base64,${chars(random, 600, `${letters}+/`)}==`,
  'kebab case': (random) =>
    `sk-learn and sk-fading-circle-wrapper, task-${random.hex(20)}, disk-usage-by-folder-${random.below(99)}`,
  version: (random) =>
    `node v24.${random.below(99)}.${random.below(99)}, chrome/134.0.${random.below(9999)}.${random.below(99)}-${random.hex(6)}`,
  'counts of tokens': (random) =>
    `prompt_tokens=${random.below(9999)} max_tokens: ${random.below(9999)} tokens=${random.below(99)}`,
  prose: (random) =>
    `The secret of good coffee: fresh beans. Your password must have 8 characters (${random.hex(6)}). Keys: see the cookie policy.`,
  'page token': (random) =>
    `next_page_token=${chars(random, 24, letters)} cursor=${chars(random, 24, letters)}`,
  'URL with a port': (random) =>
    `http://localhost:4318/sessions/${random.hex(32)}?at=${random.below(9999)} mail ada@example.com`,
  path: (random) => `packages/model/src/secret-keys-${random.hex(6)}.ts:12:5 and skeleton-${random.hex(12)}`,
  code: (random) =>
    `const apiKey = process.env.KEY_${random.below(999)}; if (password === undefined) token = readToken(${random.below(999)})`,
}
