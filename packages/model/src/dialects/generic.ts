import type { Dialect } from './reading/dialect.ts'

/** LangChain's metadata, as each exporter spells its keys. */
const inLangChainMetadata = (name: string): string[] =>
  [
    'metadata.',
    'langsmith.metadata.',
    'langfuse.observation.metadata.',
    'traceloop.association.properties.',
    'lmnr.association.properties.metadata.',
  ].map((prefix) => prefix + name)

/** Keys that several senders share. Read after all others. */
export const generic: Dialect = {
  name: 'generic',
  texts: {
    userId: ['gen_ai.user', 'llm.user', 'gen_ai.request.user'],
    agentName: [
      ...inLangChainMetadata('lc_agent_name'),
      'crewai.agent.role',
      'gen_ai.agent.role',
      'agent.role',
      'agent_role',
      'agent',
      'gen_ai.agent.id',
    ],
    langGraphNode: inLangChainMetadata('langgraph_node'),
    langGraphPath: inLangChainMetadata('langgraph_checkpoint_ns'),
    bareModel: ['model_name', 'llm.model'],
    toolName: ['tool.function.name', 'spring.ai.tool.definition.name'],
    toolCallId: ['tool.call.id', 'tool.call_id', 'tool_call_id'],
    statedKind: ['span.kind'],
    handoffFrom: ['langgraph.command.source_node'],
    handoffTo: ['langgraph.command.goto_node'],
  },
  values: {
    input: ['genai.input', 'request', 'prompt', 'input', 'crew_tasks'],
    output: ['genai.output', 'response', 'completion', 'output'],
    inputMessages: ['gen_ai.request.messages', 'llm.input_messages', 'llm.messages', 'messages'],
    outputMessages: ['gen_ai.response.messages', 'llm.output_messages'],
    toolArguments: ['tool.arguments', 'tool.input', 'tool.args', 'arguments'],
    toolResult: ['tool.output', 'tool.response', 'tool_result', 'anthropic.tool_result.content', 'result'],
    toolDefinitions: ['gen_ai.request.tools', 'gen_ai.request.available_tools', 'llm.tools', 'tools'],
    usageObject: [
      'gen_ai.usage.raw',
      'usage',
      'llm.usage',
      'gen_ai.usage',
      'token_usage',
      'braintrust.metrics',
    ],
    inputTokenDetails: ['gen_ai.usage.input_token_details'],
    outputTokenDetails: ['gen_ai.usage.output_token_details'],
    responseText: ['gen_ai.response.text'],
    responseToolCalls: ['gen_ai.response.tool_calls'],
    unindexedPrompt: ['gen_ai.prompt_json'],
    unindexedCompletion: ['gen_ai.completion_json'],
    finishReasons: ['finish_reason', 'finishReason', 'gen_ai.response.stop_reason'],
    documents: ['retrieval.documents', 'documents'],
  },
}
