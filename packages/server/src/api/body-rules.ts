import type { Gate } from '../access/caller.ts'
import { requireLogin } from '../access/caller.ts'
import { projectOfHead } from '../access/request-project.ts'
import {
  JSON_ARRIVAL_MS,
  MAX_BACKUP_BYTES,
  MAX_EDIT_BODY_BYTES,
  MAX_JSON_BODY_BYTES,
  MAX_PRICES_BODY_BYTES,
  MAX_PUBLIC_BODY_BYTES,
  PUBLIC_ARRIVAL_MS,
} from '../door/body-limits.ts'
import type { BodyRule, Head } from '../door/body-rules.ts'
import type { bodySchemas } from './schemas/requests.ts'

type RouteWithBody = keyof typeof bodySchemas | 'POST /api/restore' | 'POST /mcp'

/** Who may send the body of each route of the API, and how much. A route with a body and without a rule does not compile. */
export function apiBodyRules(gate: Gate): Record<RouteWithBody, BodyRule> {
  const person = (head: Head) => void requireLogin(head.header, gate)
  const reader = (head: Head) => projectOfHead(head, 'read', gate)
  const editor = (head: Head) => projectOfHead(head, 'edit', gate)
  const admin = (head: Head) => projectOfHead(head, 'admin', gate, head.params.project)
  const owner = (head: Head) => projectOfHead(head, 'admin', gate)
  const sender = (head: Head) => projectOfHead(head, 'ingest', gate, head.params.project)
  const json = (from: BodyRule['from'], maxBytes = MAX_JSON_BODY_BYTES): BodyRule => ({
    from,
    maxBytes,
    arrivalMs: JSON_ARRIVAL_MS,
  })
  return {
    'POST /api/login': { from: 'anyone', maxBytes: MAX_PUBLIC_BODY_BYTES, arrivalMs: PUBLIC_ARRIVAL_MS },
    'POST /api/projects': json(person),
    'PATCH /api/projects/{project}': json(admin, MAX_PRICES_BODY_BYTES),
    'PATCH /api/people/{id}': json(person),
    'POST /api/keys': json(admin),
    'POST /api/sessions/delete': json(admin),
    'PATCH /api/sessions/{id}': json(editor),
    'PATCH /api/issues/{id}': json(editor),
    'POST /api/dev/pair': json(editor),
    'POST /api/dev/jobs': json(editor, MAX_EDIT_BODY_BYTES),
    'POST /api/dev/jobs/{id}/events': json(editor, MAX_EDIT_BODY_BYTES),
    'POST /api/query': json(reader),
    'POST /api/sessions/{id}/scores': json(sender),
    'POST /api/sessions/{id}/shares': json(editor),
    'POST /api/monitors': json(editor),
    'PATCH /api/monitors/{id}': json(editor),
    'POST /api/monitors/preview': json(reader),
    'POST /api/destinations': json(owner),
    'PATCH /api/destinations/{id}': json(owner),
    'POST /mcp': json(reader, MAX_EDIT_BODY_BYTES),
    // As large as the store, and only as fast as the store inserts it.
    'POST /api/restore': { from: person, maxBytes: MAX_BACKUP_BYTES, arrivalMs: undefined, isStream: true },
  }
}
