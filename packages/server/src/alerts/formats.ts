import { createHash, createHmac } from 'node:crypto'
import type { DestinationDefinition } from '../api/schemas/alerts.ts'
import {
  describeAlert,
  describeSession,
  MOST_LISTED,
  titleOf,
  type Alert,
  type AlertSession,
  type Notification,
} from './notification.ts'
import type { HttpMessage } from './send-http.ts'
import type { Mail, MailServer } from './send-mail.ts'

type Of<Kind extends DestinationDefinition['kind']> = Extract<DestinationDefinition, { kind: Kind }>
export type Rendered = { http: HttpMessage } | { mail: Mail; server: MailServer }

/** A notification in the form of its destination. The id stays the same for all attempts, so receivers can tell repetitions. */
export function render(
  id: string,
  notification: Notification,
  destination: DestinationDefinition,
  nowMs: number,
): Rendered {
  switch (destination.kind) {
    case 'webhook':
      return { http: toWebhook(id, notification, destination, nowMs) }
    case 'slack':
      return { http: toHttp(destination.url, slackMessage(notification)) }
    case 'pagerduty':
      return { http: toHttp(destination.url, pagerDutyEvent(notification, destination)) }
    case 'alertmanager': {
      const { url, token } = destination
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      return { http: toHttp(url, alertmanagerMessage(notification, destination), headers) }
    }
    case 'email':
      return { mail: toMail(id, notification, destination), server: destination }
  }
}

function toHttp(url: string, body: object, headers: Record<string, string> = {}): HttpMessage {
  return { url, headers, body: JSON.stringify(body) }
}

/** As standardwebhooks.com says: the id, the time of the attempt and the body are signed. */
function toWebhook(
  id: string,
  { project, atMs, isTest, isRepeat, alerts }: Notification,
  { url, secret }: Of<'webhook'>,
  nowMs: number,
): HttpMessage {
  const isFiring = alerts.some(({ status }) => status === 'firing')
  const body = JSON.stringify({
    type: isTest === true ? 'test' : isFiring ? 'monitors.firing' : 'monitors.resolved',
    timestamp: iso(atMs),
    data: {
      project,
      title: titleOf({ project, atMs, alerts, ...(isTest && { isTest }) }),
      isRepeat: isRepeat === true,
      alerts: alerts.map(({ firedAtMs, resolvedAtMs, ...alert }) => ({
        ...alert,
        firedAt: iso(firedAtMs),
        resolvedAt: resolvedAtMs === null ? null : iso(resolvedAtMs),
      })),
    },
  })
  const timestamp = String(Math.floor(nowMs / 1_000))
  const key = Buffer.from((secret ?? '').replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
  return { url, headers, body }
}

const SLACK_COLORS = { firing: '#c5303e', resolved: '#2f8f4e' }
const MAX_SLACK_TEXT = 2_900

/** Attachments, because Mattermost and Discord read them too; blocks are Slack's alone. */
function slackMessage(notification: Notification): object {
  const { project, atMs, alerts } = notification
  const listed = alerts.slice(0, MOST_LISTED)
  const rest = alerts.length - listed.length
  return {
    text: slackText(`${titleOf(notification)} (${project})${rest > 0 ? `; ${rest} are not listed` : ''}`),
    attachments: listed.map((alert) => ({
      color: SLACK_COLORS[alert.status],
      title: slackText(`${alert.status === 'firing' ? 'Firing' : 'Resolved'}: ${alert.name}`),
      title_link: alert.url,
      fallback: slackText(describeAlert(alert, atMs)).slice(0, MAX_SLACK_TEXT),
      text: [slackText(describeAlert(alert, atMs)), ...alert.sessions.map(slackSession)]
        .join('\n')
        .slice(0, MAX_SLACK_TEXT),
      mrkdwn_in: ['text'],
      ts: Math.floor((alert.resolvedAtMs ?? alert.firedAtMs) / 1_000),
    })),
  }
}

function slackSession(session: AlertSession): string {
  const link = `• <${session.url.replaceAll(/[<>|]/g, encodeURIComponent)}|${slackText(describeSession(session)).replaceAll('|', '¦')}>`
  return [link, ...(session.text ?? []).map((line) => `   ${slackText(line)}`)].join('\n')
}

/** So that a name such as `<!channel>` calls nobody. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** One event for each monitor: its incident opens and is resolved with the same key. */
function pagerDutyEvent(
  { project, atMs, alerts, isTest }: Notification,
  { routingKey }: Of<'pagerduty'>,
): object {
  const alert = alerts[0]!
  const dedupKey = `playhead/${project}/${alert.monitorId}`.slice(0, 255)
  const head = { routing_key: routingKey, dedup_key: dedupKey }
  if (alert.status === 'resolved') return { ...head, event_action: 'resolve' }
  return {
    ...head,
    event_action: 'trigger',
    client: 'Playhead',
    client_url: alert.url,
    payload: {
      summary: `${alert.name}: ${describeAlert(alert, atMs)}`.slice(0, 1_024),
      source: `playhead/${project}`,
      severity: isTest === true ? 'info' : 'error',
      timestamp: iso(alert.firedAtMs),
      component: alert.monitorId,
      group: project,
      class: 'monitor',
      custom_details: {
        value: alert.value,
        watches: alert.sentence,
        sessions: alert.sessions.map((session) =>
          [describeSession(session), ...(session.text ?? [])].join('\n'),
        ),
      },
    },
    links: alert.sessions.map((session) => ({ href: session.url, text: describeSession(session) })),
  }
}

const NEVER = '0001-01-01T00:00:00Z'

/** What Alertmanager itself posts to a webhook receiver (version 4). */
function alertmanagerMessage(notification: Notification, { name }: Of<'alertmanager'>): object {
  const { project, atMs, alerts } = notification
  const listed = alerts.slice(0, MOST_LISTED)
  const shared = { source: 'playhead', project }
  return {
    version: '4',
    groupKey: `{}:{project="${project}"}`,
    truncatedAlerts: alerts.length - listed.length,
    status: alerts.some(({ status }) => status === 'firing') ? 'firing' : 'resolved',
    receiver: name,
    groupLabels: { project },
    commonLabels: listed.length === 1 ? labelsOf(listed[0]!, shared) : shared,
    commonAnnotations: {},
    externalURL: new URL(alerts[0]!.url).origin,
    alerts: listed.map((alert) => ({
      status: alert.status,
      labels: labelsOf(alert, shared),
      annotations: {
        summary: alert.name,
        description: describeAlert(alert, atMs),
        ...Object.fromEntries(
          alert.sessions.flatMap((session, index) => [
            [`session_${index + 1}`, session.url],
            [`session_${index + 1}_summary`, [describeSession(session), ...(session.text ?? [])].join('\n')],
          ]),
        ),
      },
      startsAt: iso(alert.firedAtMs),
      endsAt: alert.resolvedAtMs === null ? NEVER : iso(alert.resolvedAtMs),
      generatorURL: alert.url,
      fingerprint: createHash('sha256').update(`${project}\0${alert.monitorId}`).digest('hex').slice(0, 16),
    })),
  }
}

function labelsOf({ name, monitorId }: Alert, shared: Record<string, string>): Record<string, string> {
  return { ...shared, alertname: name, monitor: monitorId, severity: 'error' }
}

function toMail(id: string, notification: Notification, { from, to }: Of<'email'>): Mail {
  const { project, atMs, alerts } = notification
  const listed = alerts.slice(0, MOST_LISTED)
  const parts = listed.map((alert) =>
    [
      `${alert.status === 'firing' ? 'FIRING' : 'RESOLVED'}: ${alert.name}`,
      describeAlert(alert, atMs),
      ...alert.sessions.flatMap((session) => [
        '',
        `  ${describeSession(session)}`,
        ...(session.text ?? []).map((line) => `  ${line}`),
        `  ${session.url}`,
      ]),
      '',
      `Monitors: ${alert.url}`,
    ].join('\n'),
  )
  const rest = alerts.length - listed.length
  if (rest > 0) parts.push(`${rest} more are not listed.`)
  return {
    messageId: `<${id}@playhead>`,
    from,
    to,
    subject: `[Playhead ${project}] ${titleOf(notification)}`.replaceAll(/\s+/g, ' ').slice(0, 200),
    text: `${parts.join('\n\n----\n\n')}\n`,
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
