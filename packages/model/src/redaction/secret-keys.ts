/** What stands where a secret was. */
export const REDACTED = '[redacted]'

/** Keys that hold a secret under exactly this name. */
const secretNames: ReadonlySet<string> = new Set([
  'auth',
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'token',
  'sessiontoken',
  'csrftoken',
  'xsrftoken',
  'idtoken',
  'pwd',
  'cvv',
  'cvc',
  'credentials',
])
/** Keys that hold a secret when their name ends so: `dbPassword`, `OPENAI_API_KEY`, `x-api-key`. */
const secretEndings = [
  'apikey',
  'apitoken',
  'accesskey',
  'accesskeyid',
  'accesstoken',
  'authtoken',
  'bearertoken',
  'refreshtoken',
  'clientsecret',
  'passphrase',
  'passwd',
  'password',
  'privatekey',
  'secret',
  'secretkey',
  'cardnumber',
]
/** Keys come from strangers: the memory of them is bounded. */
const MAX_REMEMBERED = 4096
const MAX_KEY_LENGTH = 64

/** Tells secret keys by their name; `added` are the user's. */
export function createKeyTest(added: readonly string[]): (key: string) => boolean {
  const own = new Set(added.map(normalizeKey))
  const remembered = new Map<string, boolean>()
  return (key) => {
    let isSecret = remembered.get(key)
    if (isSecret === undefined) {
      isSecret = isSecretName(key, own)
      if (remembered.size >= MAX_REMEMBERED) remembered.clear()
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

/** `X-Api-Key`, `x_api_key` and `xApiKey` are one name; of an attribute's dotted key the last part counts. */
export function normalizeKey(key: string): string {
  const last = key.slice(key.lastIndexOf('.') + 1)
  return last.replaceAll(/[-_\s]/g, '').toLowerCase()
}
