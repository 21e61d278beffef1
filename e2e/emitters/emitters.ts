import type { Rule } from '@playhead/scripted-model'
import { reactRule } from './react-rule.ts'
import type { ScenarioName } from './weather.ts'

/** Somebody else's instrumentation, and the program that runs the weather agent with it. */
export type Emitter = {
  name: string
  language: 'python' | 'node'
  /** A file in `python` or `node`. */
  program: string
  packages: readonly string[]
  /** False where the agent is a loop that nobody gave a name. */
  namesAgent?: boolean
  /** False where a tool failure is only a text for the model. */
  seesToolFailures?: boolean
  rules?: readonly Rule[]
  /** Scenarios that can't be run, and why. */
  without?: Partial<Record<ScenarioName, string>>
}

const otel = ['opentelemetry-sdk', 'opentelemetry-exporter-otlp-proto-http']
const openai = 'openai==3.49.0'
/** Needed, but not declared, by some. */
const httpx = 'httpx==0.28.1'
const langchain = ['langchain==1.4.7', 'langchain-openai==1.7.3']
const genai = 'google-genai==3.1.0'
const agents = 'openai-agents==0.24.0'
const instrumentation = (name: string) => `openinference-instrumentation-${name}`
const client = { namesAgent: false, seesToolFailures: false } as const

const openInference: Omit<Emitter, 'language'>[] = [
  {
    name: 'openinference-openai',
    program: 'openinference/openai',
    packages: [instrumentation('openai==0.1.66'), openai],
    ...client,
  },
  {
    name: 'openinference-anthropic',
    program: 'openinference/anthropic',
    packages: [instrumentation('anthropic==3.1.0'), 'anthropic==2.8.0'],
    ...client,
  },
  {
    name: 'openinference-langchain',
    program: 'openinference/langchain',
    packages: [instrumentation('langchain==0.1.80'), ...langchain],
  },
  {
    name: 'openinference-smolagents',
    program: 'openinference/smolagents',
    packages: [instrumentation('smolagents==0.1.43'), 'smolagents[openai]==1.26.0'],
  },
  {
    name: 'openinference-crewai',
    program: 'openinference/crewai',
    packages: [instrumentation('crewai==1.1.21'), instrumentation('openai==0.1.66'), 'crewai==1.15.30'],
  },
  {
    name: 'openinference-google-genai',
    program: 'openinference/google_genai',
    packages: [instrumentation('google-genai==1.4.14'), genai],
    ...client,
  },
  {
    name: 'openinference-dspy',
    program: 'openinference/dspy',
    packages: [instrumentation('dspy==0.1.48'), instrumentation('litellm==0.1.51'), 'dspy==3.4.1'],
    rules: [reactRule],
    without: {
      stream: 'DSPy streams only what its caller asks for, and ReAct calls the model without streaming.',
    },
  },
  {
    name: 'openinference-llama-index',
    program: 'openinference/llama_index',
    packages: [
      instrumentation('llama-index==4.6.1'),
      'llama-index-core==0.14.25',
      'llama-index-llms-openai-like==0.8.1',
    ],
  },
  {
    name: 'openinference-haystack',
    program: 'openinference/haystack',
    packages: [instrumentation('haystack==0.1.46'), 'haystack-ai==3.4.0'],
    namesAgent: false,
  },
  {
    name: 'openinference-agno',
    program: 'openinference/agno',
    packages: [instrumentation('agno==1.0.15'), 'agno==3.1.10', openai],
  },
  {
    name: 'openinference-pydantic-ai',
    program: 'openinference/pydantic_ai',
    packages: [instrumentation('pydantic-ai==0.1.30'), 'pydantic-ai-slim[openai]==2.66.0'],
  },
  {
    name: 'openinference-google-adk',
    program: 'openinference/google_adk',
    packages: [instrumentation('google-adk==1.0.5'), 'google-adk==2.13.0'],
  },
  {
    name: 'openinference-autogen',
    program: 'openinference/autogen',
    packages: [
      instrumentation('autogen-agentchat==0.1.22'),
      instrumentation('openai==0.1.66'),
      'autogen-agentchat==0.7.5',
      'autogen-ext[openai]==0.7.5',
    ],
  },
  {
    name: 'openinference-openai-agents',
    program: 'openinference/openai_agents',
    packages: [instrumentation('openai-agents==2.6.0'), agents],
  },
  {
    name: 'openinference-litellm',
    program: 'openinference/litellm',
    packages: [instrumentation('litellm==0.1.51'), 'litellm==1.106.2', 'mcp'],
    ...client,
  },
]

const others: Omit<Emitter, 'language'>[] = [
  {
    name: 'agent-framework',
    program: 'others/agent_framework',
    packages: ['agent-framework-core==1.23.0', 'agent-framework-openai==1.17.0'],
  },
  { name: 'anthropic', program: 'others/anthropic', packages: ['anthropic==2.8.0'], ...client },
  { name: 'google-adk', program: 'others/google_adk', packages: ['google-adk==2.13.0'] },
  {
    name: 'haystack',
    program: 'others/haystack',
    packages: ['opentelemetry-haystack', 'haystack-ai==3.4.0'],
    namesAgent: false,
  },
  {
    name: 'laminar-openai',
    program: 'others/laminar_openai',
    packages: ['lmnr==0.8.2', openai],
    namesAgent: false,
  },
  {
    name: 'langfuse-langchain',
    program: 'others/langfuse_langchain',
    packages: ['langfuse==5.0.4', ...langchain],
  },
  { name: 'langfuse-openai', program: 'others/langfuse_openai', packages: ['langfuse==5.0.4', openai] },
  {
    name: 'langsmith-langchain',
    program: 'others/langsmith_langchain',
    packages: ['langsmith[otel]==0.14.17', ...langchain],
  },
  { name: 'litellm', program: 'others/litellm', packages: ['litellm==1.106.2', 'mcp'], ...client },
  {
    name: 'logfire-anthropic',
    program: 'others/logfire_anthropic',
    packages: ['logfire==5.2.0', 'anthropic==2.8.0'],
    ...client,
  },
  {
    name: 'logfire-openai',
    program: 'others/logfire_openai',
    packages: ['logfire==5.2.0', openai],
    ...client,
  },
  { name: 'mlflow-openai', program: 'others/mlflow_openai', packages: ['mlflow-tracing==3.17.2', openai] },
  { name: 'openai-agents', program: 'others/openai_agents', packages: [agents] },
  {
    name: 'openlit-openai',
    program: 'others/openlit_openai',
    packages: ['openlit==1.45.0', 'openai==2.54.0'],
    ...client,
  },
  {
    name: 'otel-google-genai',
    program: 'others/otel_google_genai',
    packages: ['opentelemetry-instrumentation-google-genai==1.3b0', 'google-genai<3'],
    ...client,
  },
  {
    name: 'otel-openai-agents',
    program: 'others/otel_openai_agents',
    packages: ['opentelemetry-instrumentation-openai-agents-v2==0.1.0', agents],
  },
  {
    name: 'otel-openai',
    program: 'others/otel_openai_v2',
    packages: [
      'opentelemetry-instrumentation-openai-v2==2.4b0',
      'opentelemetry-util-genai==0.4b0',
      httpx,
      openai,
    ],
    ...client,
  },
  { name: 'pydantic-ai', program: 'others/pydantic_ai', packages: ['pydantic-ai-slim[openai]==2.66.0'] },
  {
    name: 'semantic-kernel',
    program: 'others/semantic_kernel',
    packages: ['semantic-kernel==1.36.0', httpx],
  },
  { name: 'strands', program: 'others/strands', packages: ['strands-agents[openai,otel]==1.62.0'] },
  {
    name: 'traceloop-langchain',
    program: 'others/traceloop_langchain',
    packages: ['traceloop-sdk==0.62.4', ...langchain],
  },
  {
    name: 'traceloop-openai',
    program: 'others/traceloop_openai',
    packages: ['traceloop-sdk==0.62.4', httpx, openai],
    namesAgent: false,
  },
]

const python = [...openInference, ...others].map((emitter) => ({
  ...emitter,
  language: 'python' as const,
  packages: [...emitter.packages, ...otel],
}))

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

const node: Omit<Emitter, 'language'>[] = [
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

export const emitters: readonly Emitter[] = [
  ...python,
  ...node.map((emitter) => ({ ...emitter, language: 'node' as const })),
]

/** Instrumentations that are not run, and why. Those of AgentOps are run by `packages/server/test/agentops-live.test.ts`. */
export const notRun: Readonly<Record<string, string>> = {
  'openinference-instrumentation-beeai':
    'BeeAI asks for tools by a JSON schema, which the scripted model does not answer.',
  'openinference-instrumentation-bedrock': 'The scripted model does not speak the API of Bedrock.',
  'openinference-instrumentation-mistralai': 'The scripted model does not speak the API of Mistral.',
  'claude-agent-sdk': 'It runs the program Claude Code, which is not on PyPI.',
}
