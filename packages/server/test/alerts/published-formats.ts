import { z } from 'zod'

/**
 * What receivers document that they accept, written down from their documentation:
 * https://docs.slack.dev/messaging/formatting-message-text and …/legacy-secondary-message-attachments,
 * https://developer.pagerduty.com/docs/send-alert-event, https://prometheus.io/docs/alerting/latest/configuration/#webhook_config.
 */
const slackSchema = z.strictObject({
  text: z.string().min(1).max(40_000),
  attachments: z
    .array(
      z.strictObject({
        color: z.string().regex(/^(good|warning|danger|#[0-9a-f]{6})$/),
        title: z.string().min(1),
        title_link: z.url(),
        fallback: z.string().min(1),
        text: z.string().min(1).max(3_000),
        mrkdwn_in: z.array(z.enum(['pretext', 'text', 'fields'])),
        ts: z.number().int(),
      }),
    )
    .max(100),
})

const pagerDutyHead = {
  routing_key: z.string().length(32),
  dedup_key: z.string().min(1).max(255),
}

const pagerDutySchema = z.discriminatedUnion('event_action', [
  z.strictObject({
    ...pagerDutyHead,
    event_action: z.literal('trigger'),
    client: z.string(),
    client_url: z.url(),
    payload: z.strictObject({
      summary: z.string().min(1).max(1_024),
      source: z.string().min(1),
      severity: z.enum(['critical', 'error', 'warning', 'info']),
      timestamp: z.iso.datetime(),
      component: z.string(),
      group: z.string(),
      class: z.string(),
      custom_details: z.record(z.string(), z.unknown()),
    }),
    links: z.array(z.strictObject({ href: z.url(), text: z.string() })),
  }),
  z.strictObject({ ...pagerDutyHead, event_action: z.literal('resolve') }),
])

const labels = z.record(z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/), z.string())
const time = z.iso.datetime()

const alertmanagerSchema = z.strictObject({
  version: z.literal('4'),
  groupKey: z.string().min(1),
  truncatedAlerts: z.number().int().min(0),
  status: z.enum(['firing', 'resolved']),
  receiver: z.string().min(1),
  groupLabels: labels,
  commonLabels: labels,
  commonAnnotations: labels,
  externalURL: z.url(),
  alerts: z
    .array(
      z.strictObject({
        status: z.enum(['firing', 'resolved']),
        labels,
        annotations: labels,
        startsAt: time,
        endsAt: time,
        generatorURL: z.url(),
        fingerprint: z.string().regex(/^[0-9a-f]{16}$/),
      }),
    )
    .min(1),
})

const problemsOf = (schema: z.ZodType) => (body: unknown) =>
  (schema.safeParse(body).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)

export const slackProblems = problemsOf(slackSchema)
export const pagerDutyProblems = problemsOf(pagerDutySchema)
export const alertmanagerProblems = problemsOf(alertmanagerSchema)
