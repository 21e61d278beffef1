import type { Destination, DestinationChange, DestinationKind, NewDestination } from '../../api/alerts.ts'

export const kindNames: Record<DestinationKind, string> = {
  webhook: 'Webhook',
  slack: 'Slack',
  pagerduty: 'PagerDuty',
  alertmanager: 'Alertmanager format',
  email: 'E-mail',
}

type FieldName =
  | 'url'
  | 'secret'
  | 'routingKey'
  | 'token'
  | 'host'
  | 'port'
  | 'security'
  | 'user'
  | 'password'
  | 'from'
  | 'to'

/** The fields of the form as they were typed. */
export type DestinationDraft = {
  kind: DestinationKind
  name: string
  includesText: boolean
} & Record<FieldName, string>

export type Field = {
  name: FieldName
  label: string
  hint?: string
  placeholder?: string
  /** Never shown again once it is saved. */
  isSecret?: true
  isOptional?: true
}

/** What each kind asks for, in the order of the form. */
export const fieldsOf: Record<DestinationKind, readonly Field[]> = {
  webhook: [
    { name: 'url', label: 'URL', placeholder: 'https://example.com/hooks/playhead', isSecret: true },
    {
      name: 'secret',
      label: 'Signing secret',
      placeholder: 'whsec_…',
      hint: 'Signs messages (Standard Webhooks). Leave it empty to get one.',
      isSecret: true,
      isOptional: true,
    },
  ],
  slack: [
    {
      name: 'url',
      label: 'Webhook URL',
      placeholder: 'https://hooks.slack.com/services/…',
      hint: 'Also of Mattermost, or of Discord with /slack at the end.',
      isSecret: true,
    },
  ],
  pagerduty: [
    {
      name: 'routingKey',
      label: 'Integration key',
      hint: 'Of an Events API v2 integration.',
      isSecret: true,
    },
    {
      name: 'url',
      label: 'URL',
      placeholder: 'https://events.pagerduty.com/v2/enqueue',
      hint: 'Only if your account is in the EU.',
      isOptional: true,
    },
  ],
  alertmanager: [
    {
      name: 'url',
      label: 'URL',
      hint: 'Gets what Alertmanager sends to webhooks (version 4).',
      isSecret: true,
    },
    { name: 'token', label: 'Bearer token', isSecret: true, isOptional: true },
  ],
  email: [
    { name: 'to', label: 'To', placeholder: 'on-call@example.com, team@example.com' },
    { name: 'from', label: 'From', placeholder: 'playhead@example.com' },
    { name: 'host', label: 'SMTP server', placeholder: 'smtp.example.com' },
    { name: 'port', label: 'Port', placeholder: '587' },
    { name: 'security', label: 'Encryption' },
    { name: 'user', label: 'User', isOptional: true },
    { name: 'password', label: 'Password', isSecret: true, isOptional: true },
  ],
}

const empty: Record<FieldName, string> = {
  url: '',
  secret: '',
  routingKey: '',
  token: '',
  host: '',
  port: '587',
  security: 'starttls',
  user: '',
  password: '',
  from: '',
  to: '',
}

export const newDraft: DestinationDraft = { kind: 'webhook', name: '', includesText: false, ...empty }

/** The draft of a destination that exists. Its secrets are not known here, so their fields are empty. */
export function draftOf({ kind, name, includesText, settings }: Destination): DestinationDraft {
  const known = Object.entries(settings).map(([field, value]) => [field, [value].flat().join(', ')])
  return { ...empty, kind, name, includesText, ...Object.fromEntries(known) } as DestinationDraft
}

/** The name unless somebody types one. */
export function suggestName(draft: DestinationDraft): string {
  return draft.kind === 'email' && draft.to.trim() !== '' ? draft.to.trim() : kindNames[draft.kind]
}

/** Whether everything that the kind needs is there. The server checks the rest. */
export function isComplete(draft: DestinationDraft, isNew: boolean): boolean {
  return fieldsOf[draft.kind].every(
    ({ name, isSecret, isOptional }) =>
      isOptional === true || (isSecret === true && !isNew) || draft[name].trim() !== '',
  )
}

export function toDestination(draft: DestinationDraft): NewDestination {
  const { kind, includesText } = draft
  const given = fieldsOf[kind].filter(({ name }) => draft[name].trim() !== '')
  return {
    kind,
    name: draft.name.trim() === '' ? suggestName(draft) : draft.name.trim(),
    includesText,
    ...Object.fromEntries(given.map(({ name }) => [name, valueOf(draft, name)])),
  } as NewDestination
}

/** What a saved destination becomes. A secret that was not typed again stays. */
export function toChange(draft: DestinationDraft): DestinationChange {
  const { kind, includesText } = draft
  const changes = fieldsOf[kind].flatMap(({ name, isSecret, isOptional }): [string, unknown][] => {
    if (draft[name].trim() !== '') return [[name, valueOf(draft, name)]]
    return isSecret === undefined && isOptional === true && name !== 'url' ? [[name, null]] : []
  })
  return {
    name: draft.name.trim() === '' ? suggestName(draft) : draft.name.trim(),
    includesText,
    ...Object.fromEntries(changes),
  }
}

function valueOf(draft: DestinationDraft, name: FieldName): string | number | string[] {
  const text = draft[name].trim()
  if (name === 'port') return Number(text)
  return name === 'to' ? text.split(/[\s,;]+/).filter(Boolean) : text
}
