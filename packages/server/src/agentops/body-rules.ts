import { checkQuota, type Gate } from '../access/caller.ts'
import { MAX_PUBLIC_BODY_BYTES, PUBLIC_ARRIVAL_MS, UPLOAD_ARRIVAL_MS } from '../door/body-limits.ts'
import type { BodyRule, BodyRules } from '../door/body-rules.ts'
import { agentOpsCaller } from './agentops-caller.ts'

/** Who may send bodies to AgentOps' API: those who have a key; and anyone a key, to exchange it for a token. */
export function agentOpsBodyRules(gate: Gate, maxBytes: number): BodyRules {
  const upload: BodyRule = {
    from({ header }) {
      const { project } = agentOpsCaller(header, 'ingest', gate)
      checkQuota(project, gate)
      return project
    },
    maxBytes,
    arrivalMs: UPLOAD_ARRIVAL_MS,
  }
  const key: BodyRule = { from: 'anyone', maxBytes: MAX_PUBLIC_BODY_BYTES, arrivalMs: PUBLIC_ARRIVAL_MS }
  return {
    'POST /v3/auth/token': key,
    'POST /public/v1/auth/access_token': key,
    'POST /v2/{call}': upload,
    'PUT /v2/{call}': upload,
    'POST /v4/logs/upload': upload,
    'POST /v4/logs/upload/': upload,
    'POST /v4/objects/upload': upload,
    'POST /v4/objects/upload/': upload,
  }
}
