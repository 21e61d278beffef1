import { assembleSession } from '../src/assembly/assemble-session.ts'
import type { Session } from '../src/session/session.ts'
import type { StepContent, StepOutline } from '../src/session/step-draft.ts'
import { failed, outline, SESSION_START } from './outline.ts'

/** The session of these steps, ten seconds after it began. */
export function sessionOf(
  outlines: StepOutline[],
  contents: { [id: string]: Omit<StepContent, 'attributes'> } = {},
): Session {
  return assembleSession({
    outlines: outlines.map((step) => ({ ...step, sessionId: 'abc12345'.padEnd(32, '0') })),
    contents: new Map(Object.entries(contents).map(([id, content]) => [id, { ...content, attributes: {} }])),
    nowMs: SESSION_START + 10_000,
    lastHeardAtMs: SESSION_START + 10_000,
  })
}

/** A session that fails because a customer id is missing. */
export const support = [
  outline({
    id: 'root',
    kind: 'workflow',
    name: 'support',
    to: 4200,
    status: 'error',
    error: { type: 'ValueError', message: 'customer_id cannot be None' },
  }),
  outline({
    id: 'call',
    kind: 'llm',
    parentId: 'root',
    from: 0,
    to: 1200,
    model: 'gpt-4o',
    usage: { input: 400, output: 200 },
    cost: 0.003,
    inputPreview: 'I was charged twice...',
    outputPreview: "I'll look into your billing issue...",
  }),
  outline({
    id: 'classify',
    kind: 'action',
    name: 'classify_intent',
    parentId: 'root',
    from: 1234,
    to: 1800,
    inputPreview: '"billing_dispute"',
    outputPreview: 'billing',
  }),
  failed({
    id: 'fetch',
    kind: 'action',
    name: 'fetch_customer_data',
    parentId: 'root',
    from: 1890,
    to: 1891,
    message: 'customer_id cannot be None',
    inputPreview: 'customer_id=null',
  }),
]
