import { client, type Listed } from './emitter.ts'
import { agents, agno, anthropic, crewai, genai, openai, langchain, llamaIndex } from './python-packages.ts'
import { reactRule } from './react-rule.ts'

const instrumentation = (name: string) => `openinference-instrumentation-${name}`

export const openInference: readonly Listed[] = [
  {
    name: 'openinference-openai',
    program: 'openinference/openai',
    packages: [instrumentation('openai==0.1.66'), openai],
    ...client,
  },
  {
    name: 'openinference-anthropic',
    program: 'openinference/anthropic',
    packages: [instrumentation('anthropic==3.1.0'), anthropic],
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
    packages: [instrumentation('crewai==1.1.21'), instrumentation('openai==0.1.66'), crewai],
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
    packages: [instrumentation('llama-index==4.6.1'), ...llamaIndex],
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
    packages: [instrumentation('agno==1.0.15'), agno, openai],
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
  {
    name: 'openinference-agno-anthropic',
    program: 'openinference/agno_anthropic',
    packages: [instrumentation('agno==1.0.15'), agno, anthropic],
  },
  {
    name: 'openinference-groq',
    program: 'openinference/groq',
    packages: [instrumentation('groq==0.1.33'), 'groq==1.7.0'],
    ...client,
    without: { stream: "Groq's client can't ask a stream for its usage, which Groq sends in its own field." },
  },
]
