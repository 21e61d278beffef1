import { cardSign, maskCards } from './card-numbers.ts'
import { maskNamed } from './named-secrets.ts'
import { REDACTED } from './secret-keys.ts'

/** The start of a word, also after JSON escapes such as \n, \t or \u00fc, which end in a letter or a digit. */
const begin = String.raw`(?:(?<!\w)|(?<=\\[bfnrt])|(?<=\\u[\da-fA-F]{4}))`
/** As `begin`, for words with hyphens, so that each is matched only once. */
const beginWithHyphens = begin.replace(String.raw`\w`, String.raw`[\w-]`)

/** Starts with rare characters, which is three times as fast as the patterns alone. */
const tokenSign =
  /k[-_][\w-]{8}|[-_][A-Za-z0-9]{20}|[KS]IA[A-Z0-9]{4}|Iza|xox[a-z]-|eyJ|-----B|(?:earer|asic) |:\\?\/\\?\/[^\s/@]{1,200}@|lpat-|SPX-|a29\.|SG\.|(?:RER|SIC) /

/** Secrets with a known prefix. */
const prefixed = [
  // OpenAI, Anthropic, OpenRouter, Langfuse and others like them; not hyphenated words.
  String.raw`sk-(?=[a-z_-]{0,40}[A-Z0-9]|[a-z]{16})[\w-]{16,}`,
  // Stripe.
  String.raw`(?:[rsp]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}`,
  String.raw`gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}`,
  String.raw`glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,}`,
  // Groq, Hugging Face, Replicate, Fireworks, Pinecone, LangSmith.
  String.raw`(?:gsk|hf|r8|fw|pcsk|lsv2_pt|lsv2_sk)_[A-Za-z0-9]{24,}(?:_\w{6,})?`,
  // xAI, Perplexity, Tavily.
  String.raw`(?:xai|pplx|tvly)-(?=[a-z-]{0,40}[A-Z0-9])[A-Za-z0-9-]{24,}`,
  // AWS.
  String.raw`A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])`,
  // Google: keys, tokens, client secrets. SendGrid.
  String.raw`AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}`,
  // Slack.
  String.raw`(?:xox[abeoprs]-|xapp-\d-)[A-Za-z0-9-]{10,}`,
  String.raw`phs?_[A-Za-z0-9]{30,}`,
]
/** Signed and encrypted tokens. */
const jwt = String.raw`${beginWithHyphens}eyJ[\w-]{8,}\.(?:[\w-]{8,}|(?=\.))(?:\.[\w-]*){0,3}`
const keyKind = String.raw`[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`
/** A key without an end was cut; it is masked as far as a key could reach. */
const privateKey = String.raw`-----BEGIN ${keyKind}(?:(?:(?!-----B)[^]){0,20000}?-----END ${keyKind}|(?:[^"\\]|\\+[nrt/]){0,20000})`

/** One expression, so that a secret is masked as a whole even if another kind seems to start inside it. */
const tokens = new RegExp(`${begin}(?:${prefixed.join('|')})|${jwt}|${privateKey}`, 'g')
const credentials = new RegExp(
  String.raw`(${begin}(?:[Bb]earer|BEARER|[Bb]asic|BASIC) {1,4})(?=[a-z_.~+/=-]{0,60}[A-Z0-9])[\w.~+/=-]{16,}`,
  'g',
)
const passwordOfUrl = /(:\\?\/\\?\/[^\s:/@"']{0,100}:)[^\s/"'<>,;?#]{1,200}(?=@)/g

const SHORTEST_SECRET = 9

/** Masks everything that looks like a secret. */
export function maskSecrets(text: string): string {
  if (text.length < SHORTEST_SECRET) return text
  let masked = tokenSign.test(text) ? maskTokens(text) : text
  if (cardSign.test(masked)) masked = maskCards(masked)
  return maskNamed(masked)
}

function maskTokens(text: string): string {
  const afterFirstGroup = (_found: string, before: string) => before + REDACTED
  return text
    .replace(credentials, afterFirstGroup)
    .replace(passwordOfUrl, afterFirstGroup)
    .replace(tokens, REDACTED)
}
