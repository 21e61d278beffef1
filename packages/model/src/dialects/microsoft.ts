import type { Dialect } from './reading/dialect.ts'

/** Microsoft's agent framework, Semantic Kernel and Azure AI: OTel GenAI with its own thread id. */
export const microsoft: Dialect = {
  name: 'microsoft',
  scopes: [
    'agent_framework',
    'Microsoft.Agents',
    'Microsoft.Extensions.AI',
    'Microsoft.SemanticKernel',
    'Experimental.Microsoft',
    'semantic_kernel',
    'azure.ai',
    'Azure.AI',
  ],
  texts: { threadId: ['gen_ai.thread.id'] },
}
