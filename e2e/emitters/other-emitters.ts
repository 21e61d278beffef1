import { client, type Listed } from './emitter.ts'
import { agents, agno, anthropic, crewai, httpx, openai, traceloop, langchain } from './python-packages.ts'

export const others: readonly Listed[] = [
  {
    name: 'agent-framework',
    program: 'others/agent_framework',
    packages: ['agent-framework-core==1.23.0', 'agent-framework-openai==1.17.0'],
  },
  { name: 'anthropic', program: 'others/anthropic', packages: [anthropic], ...client },
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
    packages: ['logfire==5.2.0', anthropic],
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
    packages: [traceloop, ...langchain],
  },
  {
    name: 'traceloop-openai',
    program: 'others/traceloop_openai',
    packages: [traceloop, httpx, openai],
    namesAgent: false,
  },
  {
    name: 'traceloop-anthropic',
    program: 'others/traceloop_anthropic',
    packages: [traceloop, httpx, anthropic],
    ...client,
  },
  {
    name: 'traceloop-crewai',
    program: 'others/traceloop_crewai',
    packages: [traceloop, crewai],
  },
  {
    name: 'traceloop-openai-agents',
    program: 'others/traceloop_openai_agents',
    packages: [traceloop, httpx, agents],
  },
  {
    name: 'traceloop-agno',
    program: 'others/traceloop_agno',
    packages: [traceloop, agno, openai],
  },
  {
    name: 'openlit-anthropic',
    program: 'others/openlit_anthropic',
    packages: ['openlit==1.45.0', 'anthropic==0.125.0'],
    ...client,
  },
  {
    name: 'openlit-langchain',
    program: 'others/openlit_langchain',
    packages: ['openlit==1.45.0', ...langchain],
  },
  {
    name: 'mlflow-anthropic',
    program: 'others/mlflow_anthropic',
    packages: ['mlflow-tracing==3.17.2', anthropic],
    seesToolFailures: false,
  },
  {
    name: 'mlflow-langchain',
    program: 'others/mlflow_langchain',
    packages: ['mlflow-tracing==3.17.2', ...langchain],
  },
  {
    name: 'traceai-openai',
    program: 'others/traceai_openai',
    packages: ['traceai-openai==0.1.10', openai],
    ...client,
  },
  {
    name: 'langsmith-openai',
    program: 'others/langsmith_openai',
    packages: ['langsmith[otel]==0.14.17', openai],
    namesAgent: false,
  },
  {
    name: 'elastic-openai',
    program: 'others/elastic_openai',
    packages: ['elastic-opentelemetry-instrumentation-openai==1.2.0', openai],
    ...client,
  },
  {
    name: 'strands-anthropic',
    program: 'others/strands_anthropic',
    packages: ['strands-agents[anthropic,otel]==1.62.0'],
  },
  {
    name: 'pydantic-ai-anthropic',
    program: 'others/pydantic_ai_anthropic',
    packages: ['pydantic-ai-slim[anthropic]==2.66.0'],
  },
]
