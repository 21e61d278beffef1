import { wordsIn } from '../json/word-table.ts'
export const REDACTED = '[redacted]'

/** Names of keys that hold a secret. */
const secretNames: ReadonlySet<string> = new Set(
  wordsIn(`
  auth authorization proxyauthorization cookie setcookie token sessiontoken csrftoken xsrftoken
  idtoken pwd cvv cvc credentials
`),
)
/** Endings of keys that hold a secret: `dbPassword`, `OPENAI_API_KEY`, `x-api-key`. */
const secretEndings = wordsIn(`
  apikey apitoken accesskey accesskeyid accesstoken authtoken bearertoken refreshtoken clientsecret
  passphrase passwd password privatekey secret secretkey cardnumber
`)
/** Keys come from strangers, so the cache is bounded. */
const MAX_CACHED = 4096
const MAX_KEY_LENGTH = 64

/** Creates a test for secret keys; `added` are the user's names. */
export function createKeyTest(added: readonly string[]): (key: string) => boolean {
  const own = new Set(added.map(normalizeKey))
  const remembered = new Map<string, boolean>()
  return (key) => {
    let isSecret = remembered.get(key)
    if (isSecret === undefined) {
      isSecret = isSecretName(key, own)
      if (remembered.size >= MAX_CACHED) remembered.clear()
      remembered.set(key, isSecret)
    }
    return isSecret
  }
}

function isSecretName(key: string, own: ReadonlySet<string>): boolean {
  if (key.length > MAX_KEY_LENGTH) return false
  const name = normalizeKey(key)
  if (own.has(name) || secretNames.has(name)) return true
  return secretEndings.some((ending) => name.endsWith(ending))
}

/** Normalizes `X-Api-Key`, `x_api_key` and `xApiKey` to one name; takes the last part of a dotted key. */
export function normalizeKey(key: string): string {
  const last = key.slice(key.lastIndexOf('.') + 1)
  return last.replaceAll(/[-_\s]/g, '').toLowerCase()
}
