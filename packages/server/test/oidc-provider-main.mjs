// A real OpenID Connect provider. Whoever comes is logged in as the account that the test named last. On request, it issues
// ID tokens that no client may accept: signed with its own key, but with other claims.
import { createServer } from 'node:http'
import { generateKeyPairSync, sign } from 'node:crypto'
import { Provider } from 'oidc-provider'

const port = Number(process.argv[2])
const issuer = `http://127.0.0.1:${port}`
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const kid = `key-${Date.now()}`
const jwk = { ...privateKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }
let account = { sub: 'nobody' }
let changeClaims

const provider = new Provider(issuer, {
  jwks: { keys: [jwk] },
  clients: [
    {
      client_id: 'playhead',
      client_secret: 'a secret of the client',
      redirect_uris: JSON.parse(process.argv[3]),
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ],
  pkce: { required: () => true },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  conformIdTokenClaims: false,
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...account, sub }) }),
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  cookies: { keys: ['for tests only'] },
  ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
})

provider.use(async (context, next) => {
  if (context.path.startsWith('/interaction/')) return interact(context)
  await next()
  if (context.path === '/token' && changeClaims !== undefined && context.body?.id_token !== undefined)
    context.body.id_token = resign(context.body.id_token)
})

async function interact({ req, res }) {
  const { prompt, params, grantId } = await provider.interactionDetails(req, res)
  if (prompt.name === 'login')
    return provider.interactionFinished(req, res, { login: { accountId: account.sub } })
  const grant =
    grantId === undefined
      ? new provider.Grant({ accountId: account.sub, clientId: params.client_id })
      : await provider.Grant.find(grantId)
  grant.addOIDCScope('openid email profile')
  await provider.interactionFinished(
    req,
    res,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  )
}

function resign(token) {
  const claims = { ...JSON.parse(Buffer.from(token.split('.')[1], 'base64url')), ...changeClaims }
  const text = [{ alg: 'RS256', kid }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
}

process.on('message', (message) => {
  account = message.account ?? account
  changeClaims = message.changeClaims
  process.send('set')
})
process.on('disconnect', () => process.exit(0))
createServer(provider.callback()).listen(port, '127.0.0.1', () => process.send('ready'))
