import { z } from '@hono/zod-openapi'
import type { OnTheWire } from './on-the-wire.ts'

export const destinationKinds = ['webhook', 'slack', 'pagerduty', 'alertmanager', 'email'] as const
export type DestinationKind = (typeof destinationKinds)[number]

const PAGERDUTY = 'https://events.pagerduty.com/v2/enqueue'
/** Enough for every secret that people paste, and for no file. */
const MAX_SECRET = 1_000

const url = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2_000)
  .refine(
    (text) => URL.canParse(text) && new URL(text).username === '',
    'must not contain a user or password',
  )
const line = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\r\n]*$/, 'must be one line')
const secretText = z.string().min(1).max(MAX_SECRET)
const mailAddress = z.email().max(320)

const common = {
  name: line,
  isEnabled: z.boolean(),
  includesText: z
    .boolean()
    .describe('whether messages quote what users and agents wrote: prompts, error messages, arguments'),
}

/** What each kind needs. Fields in `secretFields` are never given back. */
export const destinationFields = {
  webhook: {
    url,
    secret: z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'must be whsec_ and 24 to 64 bytes in base64')
      .describe('signs messages as standardwebhooks.com says; made by the server if it is absent'),
  },
  slack: { url },
  pagerduty: {
    routingKey: secretText.describe('the integration key of a service (Events API v2)'),
    url: url.default(PAGERDUTY),
  },
  alertmanager: { url, token: secretText.optional().describe('sent as `Authorization: Bearer …`') },
  email: {
    host: z.string().trim().min(1).max(255),
    port: z.number().int().min(1).max(65_535),
    security: z
      .enum(['tls', 'starttls', 'none'])
      .describe('`none` sends passwords and messages in plain text'),
    user: line.optional(),
    password: secretText.optional(),
    from: mailAddress,
    to: z.array(mailAddress).min(1).max(20),
  },
} as const

/** The address of a webhook is a secret too: whoever knows it can post. */
export const secretFields = {
  webhook: ['url', 'secret'],
  slack: ['url'],
  pagerduty: ['routingKey'],
  alertmanager: ['url', 'token'],
  email: ['password'],
} as const satisfies { [Kind in DestinationKind]: (keyof (typeof destinationFields)[Kind])[] }

const given = {
  ...common,
  isEnabled: common.isEnabled.default(true),
  includesText: common.includesText.default(false),
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and dashes')
    .optional()
    .describe('made from the name by default'),
}

/** Refuses what the kind does not have: a mistyped field would otherwise be lost without a word. */
const { webhook, slack, pagerduty, alertmanager, email } = destinationFields
export const newDestinationSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('webhook'), ...given, ...webhook, secret: webhook.secret.optional() }),
  z.strictObject({ kind: z.literal('slack'), ...given, ...slack }),
  z.strictObject({ kind: z.literal('pagerduty'), ...given, ...pagerduty }),
  z.strictObject({ kind: z.literal('alertmanager'), ...given, ...alertmanager }),
  z.strictObject({ kind: z.literal('email'), ...given, ...email }),
])

/** The fields of all kinds. Those that the kind does not have are refused when the change is applied. */
export const destinationChangeSchema = z.strictObject({
  name: common.name.optional(),
  isEnabled: common.isEnabled.optional(),
  includesText: common.includesText.optional(),
  url: url.optional(),
  secret: webhook.secret.optional(),
  routingKey: pagerduty.routingKey.optional(),
  token: alertmanager.token.nullable().describe('null removes it'),
  host: email.host.optional(),
  port: email.port.optional(),
  security: email.security.optional(),
  user: email.user.nullable().describe('null removes it'),
  password: email.password.nullable().describe('null removes it'),
  from: email.from.optional(),
  to: email.to.optional(),
})

export const destinationSchema = z
  .object({
    id: z.string(),
    kind: z.enum(destinationKinds),
    ...common,
    target: z.string().describe('where messages go, without what is secret'),
    settings: z
      .record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]))
      .describe('its fields that are not secret'),
    secrets: z.array(z.string()).describe('the names of its secret fields that are set'),
    problem: z
      .string()
      .optional()
      .describe('why the server turned it off, or why it sends nothing to this address'),
  })
  .openapi('Destination')

export const savedDestinationSchema = destinationSchema.extend({
  warning: z
    .string()
    .optional()
    .describe('why nothing would be sent now: where the name of the host leads. It is saved all the same'),
})

export const createdDestinationSchema = savedDestinationSchema.extend({
  secret: z.string().optional().describe('the signing secret that the server made; it is not shown again'),
})

export const attemptResults = ['delivered', 'refused', 'unreachable', 'unanswered'] as const
export const deliveryStates = ['waiting', 'delivered', 'failed', 'canceled'] as const
export const deliveryReasons = ['change', 'repeat', 'test'] as const

const attemptSchema = z.object({
  at: z.iso.datetime(),
  result: z
    .enum(['running', ...attemptResults])
    .describe(
      'delivered: the receiver accepted it; refused: it answered with an error; unreachable: nothing was sent; unanswered: it may have arrived',
    ),
  tookMs: z.number().optional(),
  status: z.number().optional().describe('the HTTP status or SMTP code'),
  detail: z.string().optional(),
})

export const deliverySchema = z
  .object({
    id: z.string().describe('the `webhook-id` of the message, the same for every attempt'),
    destinationId: z.string(),
    destinationName: z.string(),
    kind: z.enum(destinationKinds),
    reason: z
      .enum(deliveryReasons)
      .describe('a monitor fired or was resolved, still fires, or somebody tested'),
    state: z.enum(deliveryStates),
    isMaybeTwice: z
      .boolean()
      .describe('true if an earlier attempt got no answer, so that the receiver may have the message twice'),
    title: z.string(),
    alerts: z.array(
      z.object({ monitorId: z.string(), name: z.string(), status: z.enum(['firing', 'resolved']) }),
    ),
    createdAt: z.iso.datetime(),
    nextAttemptAt: z.iso.datetime().nullable(),
    attempts: z.array(attemptSchema).describe('oldest first'),
  })
  .openapi('Delivery')

export type DestinationResponse = OnTheWire<typeof destinationSchema>
export type DeliveryResponse = OnTheWire<typeof deliverySchema>
/** A destination with its secrets, as it is stored. */
export type DestinationDefinition = WithoutId<z.output<typeof newDestinationSchema>>
type WithoutId<Given> = Given extends unknown ? Omit<Given, 'id'> : never
