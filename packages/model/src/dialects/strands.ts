import type { Dialect } from './reading/dialect.ts'
import { itIs } from './reading/kind-words.ts'

/** Strands Agents: OTel GenAI, with its content in span events. */
export const strands: Dialect = {
  name: 'strands',
  signs: ['event_loop.'],
  scopes: ['strands'],
  kind: ({ span }) => (span.name.startsWith('execute_event_loop_cycle') ? itIs('workflow') : undefined),
}
