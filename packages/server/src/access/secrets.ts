import { createHash, createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 40

/** What a key begins with. */
export const KEY_PREFIX = 'ph_'

/** A new secret: 238 random bits, with a prefix that secret scanners can find. */
export function newSecret(prefix: string): string {
  let secret = ''
  while (secret.length < SECRET_LENGTH) {
    for (const byte of randomBytes(SECRET_LENGTH)) {
      // 248 is the largest multiple of 62 in a byte, so every character is equally likely.
      if (byte < 248 && secret.length < SECRET_LENGTH) secret += alphabet[byte % 62]
    }
  }
  return `${prefix}${secret}`
}

/** The stored form of a secret. Secrets are long and random, so a plain hash is safe. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Signs the cookies of logins. The signing key is derived from the password: changing it ends every login. */
export class LoginCookies {
  readonly #signingKey: Buffer
  readonly #passwordHash: Buffer

  constructor(password: string) {
    this.#signingKey = scryptSync(password, 'playhead login cookie', 32)
    this.#passwordHash = createHash('sha256').update(password).digest()
  }

  isPassword(typed: string): boolean {
    return timingSafeEqual(createHash('sha256').update(typed).digest(), this.#passwordHash)
  }

  issue(loginId: string): string {
    return `${loginId}.${this.sign('cookie', loginId)}`
  }

  /** The login that a cookie belongs to; undefined if we did not sign it. */
  read(cookie: string): string | undefined {
    const [loginId = '', signature = ''] = cookie.split('.')
    const [given, right] = [Buffer.from(signature), Buffer.from(this.sign('cookie', loginId))]
    return given.length === right.length && timingSafeEqual(given, right) ? loginId : undefined
  }

  /** A signature for one purpose; it can't be used for another. */
  sign(purpose: 'cookie' | 'record' | 'oidc', text: string): string {
    return createHmac('sha256', this.#signingKey).update(`${purpose} ${text}`).digest('base64url')
  }
}
