import { createKeyTest } from './secret-keys.ts'
import { maskSecrets, REDACTED } from './secret-patterns.ts'

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
  const isSecretKey = createKeyTest(rules.filter((rule) => typeof rule === 'string'))
  const own = rules.filter((rule) => typeof rule !== 'string').map(toReplacement)
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
  return (text) => text.replace(pattern, REDACTED)
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
