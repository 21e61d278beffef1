/** Nodes inside an agent of LangGraph, whose names say nothing. */
export const innerNodes: ReadonlySet<string> = new Set([
  'agent',
  'model',
  'model_request',
  'call_model',
  'llm',
  'chatbot',
  'tools',
  '__start__',
])

/** True where an instrumentation of LangGraph calls such a node an agent. */
export function isInnerNode(agent: string | undefined, provider: string | undefined): boolean {
  return provider === 'langgraph' && agent !== undefined && innerNodes.has(agent)
}
