import { client, type Listed } from './emitter.ts'

const nodeOtel = [
  '@opentelemetry/api@1.9.0',
  '@opentelemetry/context-async-hooks@2.12.0',
  '@opentelemetry/sdk-trace-base@2.12.0',
  '@opentelemetry/exporter-trace-otlp-proto@0.223.0',
]
const nodeSdk = [
  '@opentelemetry/api@1.9.0',
  '@opentelemetry/sdk-node@0.223.0',
  '@opentelemetry/exporter-trace-otlp-http@0.223.0',
]
const nodeOpenai = 'openai@7.53.0'
/** Later versions of langgraph want a core that the others do not take, and npm then searches without end. */
const nodeLangchain = [
  'langchain@1.5.14',
  '@langchain/core@1.2.13',
  '@langchain/langgraph@1.4.13',
  '@langchain/langgraph-checkpoint@1.1.5',
  '@langchain/openai@1.6.0',
  'zod@4.6.7',
]
const nodeAgents = ['@openai/agents@0.20.0', nodeOpenai, 'zod@4.6.7']
const arize = (name: string) => `@arizeai/openinference-instrumentation-${name}`

export const node: readonly Listed[] = [
  {
    name: 'node-openinference-openai',
    program: 'openinference-openai',
    packages: [arize('openai@4.2.7'), nodeOpenai, ...nodeOtel],
    ...client,
  },
  {
    name: 'node-openinference-anthropic',
    program: 'openinference-anthropic',
    packages: [arize('anthropic@0.2.8'), '@anthropic-ai/sdk@1.8.0', ...nodeOtel],
    ...client,
  },
  {
    name: 'node-openinference-langchain',
    program: 'openinference-langchain',
    packages: [arize('langchain@4.1.1'), ...nodeLangchain, ...nodeOtel],
  },
  {
    name: 'node-openinference-openai-agents',
    program: 'openinference-openai-agents',
    packages: [arize('openai-agents@0.2.15'), ...nodeAgents, ...nodeOtel],
  },
  { name: 'node-openai-agents', program: 'openai-agents-exporter', packages: nodeAgents },
  {
    name: 'node-langfuse-openai',
    program: 'langfuse-openai',
    packages: [
      '@langfuse/openai@5.11.1',
      '@langfuse/otel@5.11.1',
      '@langfuse/tracing@5.11.1',
      nodeOpenai,
      ...nodeSdk,
    ],
  },
  {
    name: 'node-langfuse-langchain',
    program: 'langfuse-langchain',
    packages: ['@langfuse/langchain@5.11.1', '@langfuse/otel@5.11.1', ...nodeLangchain, ...nodeSdk],
  },
  {
    name: 'node-traceloop-openai',
    program: 'traceloop-openai',
    packages: ['@traceloop/node-server-sdk@0.27.0', nodeOpenai],
    namesAgent: false,
  },
  {
    name: 'node-mastra',
    program: 'mastra',
    packages: [
      '@mastra/core@1.71.0',
      '@mastra/observability@1.17.9',
      '@mastra/otel-exporter@1.4.0',
      '@opentelemetry/exporter-trace-otlp-http',
      '@ai-sdk/openai@4.0.114',
      'zod@4.6.7',
    ],
  },
  {
    name: 'node-vercel-ai',
    program: 'vercel-ai',
    packages: ['ai@7.0.169', '@ai-sdk/openai@4.0.114', '@ai-sdk/otel@1.0.169', 'zod@4.6.7', ...nodeOtel],
  },
]
