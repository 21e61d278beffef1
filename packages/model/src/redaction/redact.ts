import { createNamedMask } from './named-secrets.ts'
import { createKeyTest, normalizeKey, REDACTED } from './secret-keys.ts'
import { maskSecrets } from './secret-patterns.ts'

/**
 * One more thing that must not leave the process.
 * - text: the name of a key or argument, whatever its case (`"ssn"` also masks `SSN` and `s_s_n`)
 * - a regular expression: what it matches in any recorded text
 * - a function: gives the text that is kept; `key` is the attribute or argument that holds it
 */
export type RedactRule = string | RegExp | ((text: string, key: string) => string)

export type Redactor = {
  /** The text without what looks like a secret. `key` is what it was recorded under. */
  text(text: string, key: string): string
  /** True when whatever is recorded under this key is a secret. */
  isSecretKey: (key: string) => boolean
}

/** Masks keys, tokens, private keys and card numbers, and what the rules add. Rules run after the built-in patterns. */
export function createRedactor(rules: readonly RedactRule[] = []): Redactor {
  const names = rules.filter((rule) => typeof rule === 'string')
  const isSecretKey = createKeyTest(names)
  const own = rules.filter((rule) => typeof rule !== 'string').map(toReplacement)
  if (names.length > 0) own.unshift(createNamedMask(names.map(normalizeKey)))
  if (own.length === 0) return { text: maskSecrets, isSecretKey }
  return {
    isSecretKey,
    text(text, key) {
      let kept = maskSecrets(text)
      for (const replace of own) kept = replace(kept, key)
      return kept
    },
  }
}

function toReplacement(rule: Exclude<RedactRule, string>): (text: string, key: string) => string {
  if (typeof rule === 'function') return (text, key) => applyRule(rule, text, key)
  const pattern = new RegExp(rule.source, `${rule.flags.replaceAll(/[gy]/g, '')}g`)
  const mask = (text: string) => text.replace(pattern, REDACTED)
  return (text) => maskEscaped(mask(text), mask)
}

/** A rule is written for texts as they are: in JSON, where a line may end in \n, every text is looked at by itself too. */
function maskEscaped(text: string, mask: (text: string) => string): string {
  if (!/^\s*["[{]/.test(text) || !text.includes('\\')) return text
  try {
    let isChanged = false
    const masked: unknown = JSON.parse(text, (_key, value: unknown) => {
      if (typeof value !== 'string') return value
      const kept = maskEscaped(mask(value), mask)
      isChanged ||= kept !== value
      return kept
    })
    return isChanged ? JSON.stringify(masked) : text
  } catch {
    return text
  }
}

/** A rule that fails keeps nothing: what it was there to hide is unknown. */
function applyRule(rule: (text: string, key: string) => string, text: string, key: string): string {
  try {
    const kept = rule(text, key)
    return typeof kept === 'string' ? kept : REDACTED
  } catch {
    return REDACTED
  }
}
