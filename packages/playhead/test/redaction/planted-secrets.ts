import type { Random } from '../../../../bench/corpus/random.ts'

/** A secret, and the part that must be hidden; keys, prefixes and addresses around it may stay. */
export type Secret = { text: string; hidden: string }

const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const digits = '0123456789'
const letters = lower + upper + digits
const urlSafe = `${letters}-_`
const base64 = `${letters}+/`

/** Secrets that are recognized by their format: every family that the SDK claims to redact. */
export const plainFamilies: Readonly<Record<string, (random: Random) => Secret>> = {
  'OpenAI key': (random) => token('sk-', chars(random, 48, letters)),
  'OpenAI project key': (random) => token('sk-proj-', chars(random, 120, urlSafe)),
  'OpenAI service key': (random) => token('sk-svcacct-', chars(random, 120, urlSafe)),
  'Anthropic key': (random) => token('sk-ant-api03-', `${chars(random, 93, urlSafe)}AA`),
  'OpenRouter key': (random) => token('sk-or-v1-', chars(random, 64, `${digits}abcdef`)),
  'Groq, Hugging Face, Replicate key': (random) =>
    token(random.pick(['gsk_', 'hf_', 'r8_']), chars(random, 36, letters)),
  'xAI, Perplexity, Tavily key': (random) =>
    token(random.pick(['xai-', 'pplx-', 'tvly-']), chars(random, 48, letters)),
  'Stripe key': (random) =>
    token(random.pick(['sk_live_', 'sk_test_', 'rk_live_', 'pk_live_']), chars(random, 24, letters)),
  'GitHub token': (random) =>
    token(random.pick(['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_']), chars(random, 36, letters)),
  'GitHub fine-grained token': (random) =>
    token('github_pat_', `${chars(random, 22, letters)}_${chars(random, 59, letters)}`),
  'GitLab token': (random) => token('glpat-', chars(random, 20, urlSafe)),
  'npm token': (random) => token('npm_', chars(random, 36, letters)),
  'AWS access key id': (random) => token(random.pick(['AKIA', 'ASIA']), chars(random, 16, upper + digits)),
  'Google API key': (random) => token('AIza', chars(random, 35, urlSafe)),
  'Google OAuth token': (random) => token('ya29.', chars(random, 120, urlSafe)),
  'Slack token': (random) => {
    const part = () => chars(random, 12, digits)
    return token(
      random.pick(['xoxb-', 'xoxp-', 'xoxa-']),
      `${part()}-${part()}-${chars(random, 24, letters)}`,
    )
  },
  'key of Playhead': (random) => token('ph_', chars(random, 40, letters)),
  JWT: (random) => {
    const payload = Buffer.from(JSON.stringify({ [chars(random, 12, letters)]: true }))
    const [body, signature] = [payload.toString('base64url'), chars(random, 43, urlSafe)]
    return token('eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.', `${body}.${signature}`)
  },
  'encrypted JWT': (random) => {
    const part = (length: number) => chars(random, length, urlSafe)
    const parts = [part(120), part(16), part(80), part(22)]
    return token('eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.', parts.join('.'))
  },
  'private key': (random) => {
    const kind = random.pick(['RSA PRIVATE KEY', 'PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'EC PRIVATE KEY'])
    return pem(random, kind)
  },
  'PGP private key': (random) => pem(random, 'PGP PRIVATE KEY BLOCK'),
  'card number': (random) => card(random),
  'bearer token': (random) => {
    const hidden = chars(random, random.between(20, 60), urlSafe)
    return { text: `${random.pick(['Bearer', 'bearer', 'BEARER'])} ${hidden}`, hidden }
  },
  'basic credentials': (random) => {
    const hidden = Buffer.from(`ada:${chars(random, 14, letters)}`).toString('base64')
    return { text: `Basic ${hidden}`, hidden: hidden.replaceAll('=', '') }
  },
  'password in a URL': (random) => {
    const hidden = chars(random, random.between(12, 24), letters)
    const scheme = random.pick(['postgres', 'redis', 'mongodb+srv', 'amqp', 'https'])
    const user = scheme === 'redis' ? '' : 'ada'
    return { text: `${scheme}://${user}:${hidden}@db.internal:5432/app`, hidden }
  },
}

/** Keys whose values are always secret. */
export const namedFamilies: Readonly<Record<string, readonly string[]>> = {
  password: ['password', 'dbPassword', 'DB_PASSWORD', 'user_password', 'passwd', 'passphrase'],
  'API key by its name': [
    'apiKey',
    'api_key',
    'OPENAI_API_KEY',
    'x-api-key',
    'AZURE_OPENAI_API_KEY',
    'api-key',
  ],
  'secret by its name': ['client_secret', 'clientSecret', 'AWS_SECRET_ACCESS_KEY', 'secretKey', 'JWT_SECRET'],
  'token by its name': ['access_token', 'refreshToken', 'auth_token', 'SLACK_API_TOKEN', 'session_token'],
  'private key by its name': ['private_key', 'privateKey', 'SSH_PRIVATE_KEY'],
}

/** Keys that count only as a whole key, in objects and in JSON. */
export const keyNames = [
  'token',
  'pwd',
  'cvv',
  'cvc',
  'auth',
  'credentials',
  'csrfToken',
  'cardNumber',
  'cookie',
]

/** A value without a recognizable format. */
export function namedValue(random: Random): string {
  return chars(random, random.between(12, 40), letters)
}

/** A valid card number, in one of the usual notations. */
function card(random: Random): Secret {
  const [start, length, layout] = random.pick([
    ['4', 16, [4, 4, 4, 4]],
    ['51', 16, [4, 4, 4, 4]],
    ['2221', 16, [4, 4, 4, 4]],
    ['6011', 16, [4, 4, 4, 4]],
    ['37', 15, [4, 6, 5]],
    ['3056', 14, [4, 6, 4]],
  ] as const)
  const body = start + chars(random, length - start.length - 1, digits)
  const number = body + checkDigit(body)
  const separator = random.pick(['', '', ' ', '-', '\u00a0'])
  let from = 0
  const text = layout.map((size) => number.slice(from, (from += size))).join(separator)
  return { text, hidden: text }
}

/** The Luhn check digit. */
export function checkDigit(body: string): string {
  const sum = Array.from(body)
    .toReversed()
    .reduce((total, digit, index) => {
      const doubled = index % 2 === 0 ? Number(digit) * 2 : Number(digit)
      return total + (doubled > 9 ? doubled - 9 : doubled)
    }, 0)
  return String((10 - (sum % 10)) % 10)
}

function pem(random: Random, kind: string): Secret {
  const lines = Array.from({ length: random.between(4, 16) }, () => chars(random, 64, base64))
  const hidden = lines.at(-1)!
  return { text: `-----BEGIN ${kind}-----\n${lines.join('\n')}\n-----END ${kind}-----`, hidden }
}

function token(prefix: string, hidden: string): Secret {
  return { text: prefix + hidden, hidden }
}

/** Starts and ends with a letter, because other families cover what surrounding text does to the ends. */
export function chars(random: Random, length: number, alphabet: string): string {
  const ends = /[A-Za-z]/.test(alphabet) ? alphabet.replaceAll(/[-_+/]/g, '') : alphabet
  let text = ''
  for (let index = 0; index < length; index += 1) {
    const possible = index === 0 || index === length - 1 ? ends : alphabet
    text += possible[random.below(possible.length)]
  }
  return text
}
