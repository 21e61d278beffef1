/** Texts that look like secrets. A family is asked for its sign first: one pass that most texts do not survive. */
type Family = { sign: RegExp; patterns: readonly Pattern[] }

type Pattern = { pattern: RegExp; mask: Mask }

/** What stands for a match; the groups of a pattern are the parts before the secret. */
type Mask = (found: string, before: string) => string

/** What stands where a secret was. */
export const REDACTED = '[redacted]'

const whole: Mask = () => REDACTED
const afterFirstGroup: Mask = (_found, before) => before + REDACTED

const tokens: Family = {
  // Begins with what is rare in text: three times as fast as the patterns' own beginnings.
  sign: /k[-_][\w-]{8}|[a-z]_[A-Za-z0-9]{20}|lpat-|[KS]IA[A-Z0-9]{4}|Iza|xox[a-z]-|eyJ|-----B|(?:earer|asic) \S|:\/\/[^\s/@]{1,200}@/,
  patterns: [
    // OpenAI, Anthropic, OpenRouter, Langfuse and others that follow them.
    { pattern: /\bsk-[A-Za-z0-9_-]{16,}/g, mask: whole },
    { pattern: /\b[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}/g, mask: whole },
    { pattern: /\b(?:gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g, mask: whole },
    { pattern: /\b(?:glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,})/g, mask: whole },
    { pattern: /\bA[KS]IA[A-Z0-9]{16}\b/g, mask: whole },
    { pattern: /\bAIza[\w-]{30,}/g, mask: whole },
    { pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g, mask: whole },
    { pattern: /\bph_[A-Za-z0-9]{30,}/g, mask: whole },
    { pattern: /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?/g, mask: whole },
    {
      pattern: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
      mask: whole,
    },
    { pattern: /\b((?:[Bb]earer|[Bb]asic) )[\w.~+/=-]{16,}/g, mask: afterFirstGroup },
    { pattern: /(:\/\/[^\s:/@]{0,100}:)[^\s/@]{1,200}(?=@)/g, mask: afterFirstGroup },
  ],
}

const cards: Family = {
  sign: /\d(?:[ -]?\d){12}/,
  patterns: [
    {
      pattern: /(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.])/g,
      mask: (found) => (isCardNumber(found) ? REDACTED : found),
    },
  ],
}

const secretName = String.raw`[\w.-]{0,40}(?:authorization|api[-_]?(?:key|token)|access[-_]?key(?:[-_]?id)?|(?:access|auth|bearer|refresh|session|id)[-_]?token|secret(?:[-_]?key)?|passphrase|passwd|password|private[-_]?key|cookie)`

const named: Family = {
  sign: /[:=](?<=(?:authorization|key|key_?id|token|secret|passphrase|passwd|password|cookie)\\{0,8}["']?\s?[:=])/i,
  patterns: [
    // "password": "…" in JSON, and \"password\": \"…\" in JSON inside JSON.
    {
      pattern: new RegExp(String.raw`("${secretName}"\s*:\s*")(?:\\.|[^"\\])+(?=")`, 'gi'),
      mask: afterFirstGroup,
    },
    {
      pattern: new RegExp(String.raw`((\\+")${secretName}\2\s*:\s*\2)[^]+?(?=\2)`, 'gi'),
      mask: afterFirstGroup,
    },
    {
      pattern: new RegExp(String.raw`((?:^|[?&;\s"'])${secretName}=)[^&;\s"'\\]{3,}`, 'gi'),
      mask: afterFirstGroup,
    },
    // Headers as they stand on the wire.
    {
      pattern: /(\b(?:(?:proxy-)?authorization|x-api-key|(?:set-)?cookie): ?)[^\s"'\\][^\r\n"'\\]*/gi,
      mask: afterFirstGroup,
    },
  ],
}

const families = [tokens, cards, named]
const SHORTEST_SECRET = 9

/** The text without what looks like a secret; the same text when there is nothing to hide. */
export function maskSecrets(text: string): string {
  if (text.length < SHORTEST_SECRET) return text
  let masked = text
  for (const { sign, patterns } of families) {
    if (!sign.test(masked)) continue
    for (const { pattern, mask } of patterns) masked = masked.replace(pattern, mask)
  }
  return masked
}

const issuer = /^(?:4|5[1-5]|2[2-7]|3[4-8]|30|6)/

/** A number that a card could have: an issuer's beginning and Luhn's check digit. */
function isCardNumber(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '')
  if (!issuer.test(digits)) return false
  let sum = 0
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index])
    const doubled = index % 2 === 0 ? digit : digit * 2
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
