import type { Configuration } from 'openid-client'
import { KnownError } from '../errors/known-error.ts'
import { isLoopback } from './addresses.ts'
import type { Identity } from './people.ts'

/** Loaded with the first login: most servers have no provider. */
const loadOidc = () => import('openid-client')

export type OidcSettings = { issuer: string; clientId: string; clientSecret: string | undefined }

/** What is remembered between the way to the provider and the way back, in a signed cookie. */
export type PendingLogin = { state: string; nonce: string; verifier: string; back: string }

/** How long people may take to log in at the provider. */
export const PENDING_SECONDS = 600
/** The provider's answer must arrive within this time. */
const TIMEOUT_SECONDS = 10
/** For so long, its addresses and keys are remembered: rotated keys work soon, and a flood of logins does not reach it. */
const REMEMBERED_MS = 10_000

/**
 * Logs people in at an OpenID Connect provider: the code flow with PKCE, state and nonce. The signature of every ID token is
 * verified.
 */
export class OidcProvider {
  readonly #settings: OidcSettings
  #discovered: Promise<Configuration> | undefined
  #discoveredAtMs = Number.NEGATIVE_INFINITY

  constructor(settings: OidcSettings) {
    this.#settings = settings
  }

  get issuer(): string {
    return this.#settings.issuer
  }

  /** Where to send the browser, and what to remember until it comes back. */
  async begin(redirectUri: string, back: string): Promise<{ url: URL; pending: PendingLogin }> {
    const configuration = await this.#discover()
    const oidc = await loadOidc()
    const pending = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
      back,
    }
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
      state: pending.state,
      nonce: pending.nonce,
    })
    return { url, pending }
  }

  /** Who came back. Throws if anything about the response or its ID token is wrong. */
  async finish(address: URL, { state, nonce, verifier }: PendingLogin): Promise<Identity> {
    const configuration = await this.#discover()
    const oidc = await loadOidc()
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, address, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()!
      if (claims.sub === '') throw new Error('the ID token names nobody')
      const text = (claim: unknown) => (typeof claim === 'string' ? claim.slice(0, 500) : '')
      return {
        issuer: claims.iss,
        subject: claims.sub,
        email: text(claims.email),
        isEmailVerified: claims.email_verified === true,
        name: text(claims.name) || text(claims.preferred_username) || text(claims.email) || claims.sub,
      }
    } catch (error) {
      throw new KnownError('UNAUTHORIZED', `The login was refused: ${reasonOf(error)}. Try again.`, {
        cause: error,
      })
    }
  }

  async #discover(): Promise<Configuration> {
    if (this.#discovered === undefined || performance.now() - this.#discoveredAtMs > REMEMBERED_MS) {
      this.#discovered = discover(this.#settings)
      this.#discoveredAtMs = performance.now()
    }
    try {
      return await this.#discovered
    } catch (error) {
      this.#discovered = undefined
      throw new KnownError(
        'STORE_UNAVAILABLE',
        `The login provider ${this.#settings.issuer} does not respond as expected: ${reasonOf(error)}. Check PLAYHEAD_OIDC_ISSUER, or log in with the password.`,
        { cause: error },
      )
    }
  }
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> {
  const oidc = await loadOidc()
  const address = new URL(issuer)
  const isLocal = address.protocol === 'http:' && isLoopback(address.hostname)
  const configuration = await oidc.discovery(address, clientId, clientSecret, undefined, {
    timeout: TIMEOUT_SECONDS,
    ...(isLocal && { execute: [oidc.allowInsecureRequests] }),
  })
  // Without this, tokens that come straight from the provider are taken without a look at their signature.
  oidc.enableNonRepudiationChecks(configuration)
  return configuration
}

/** The provider's own words, if it has any. */
function reasonOf(error: unknown): string {
  const { error_description: description, cause, message } = error as Error & { error_description?: string }
  const inner = cause instanceof Error ? `: ${cause.message}` : ''
  return (description ?? `${message}${inner}`).replace(/\.$/, '').slice(0, 300)
}
