import type { Dialect } from './reading/dialect.ts'
import { ofKind } from './reading/kind-words.ts'

/** Strands Agents: OTel GenAI, with its content in span events. */
export const strands: Dialect = {
  name: 'strands',
  signs: ['event_loop.'],
  scopes: ['strands'],
  hasFirstTokenInMs: true,
  excludesCache: ({ fields }, { isSplitProvider }) => isSplitProvider && fields.totalTokens === undefined,
  // An agent reports the tokens of all its runs.
  isUsageRollup: ({ fields }) => fields.operation === 'invoke_agent',
  kind: ({ span }) => (span.name.startsWith('execute_event_loop_cycle') ? ofKind('workflow') : undefined),
}
