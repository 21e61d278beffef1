import { expect, test } from 'vitest'
import { stepOf } from '../../../test/steps-of.ts'
import type { SpanShape } from '../../../test/make-span.ts'

const model = { 'openinference.span.kind': 'LLM', 'llm.model_name': 'gpt-4o' }
const inGraph = (metadata: object): SpanShape => ({
  attributes: { ...model, metadata: JSON.stringify(metadata) },
})

test.each<[string, SpanShape, string | undefined]>([
  ['LangChain', inGraph({ lc_agent_name: 'weather_agent', langgraph_node: 'model' }), 'weather_agent'],
  ['a node of LangGraph', inGraph({ langgraph_node: 'researcher' }), 'researcher'],
  [
    'a node around the node of an agent',
    inGraph({ langgraph_node: 'agent', langgraph_checkpoint_ns: 'supervisor:1f|agent:2e' }),
    'supervisor',
  ],
  [
    'LlamaIndex',
    {
      name: 'AgentWorkflow.run_agent_step',
      attributes: {
        'openinference.span.kind': 'CHAIN',
        'input.value': `{"ev":"AgentSetup(input=[ChatMessage(role='user')], current_agent_name='planner')"}`,
      },
    },
    'planner',
  ],
  ['a graph of one agent without a name', inGraph({ langgraph_node: 'agent' }), undefined],
  [
    'LangSmith',
    { attributes: { 'langsmith.span.kind': 'llm', 'langsmith.metadata.langgraph_node': 'planner' } },
    'planner',
  ],
  [
    'Langfuse',
    {
      attributes: {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.metadata.langgraph_node': 'planner',
      },
    },
    'planner',
  ],
  [
    'Traceloop',
    {
      attributes: {
        'llm.request.type': 'chat',
        'traceloop.association.properties.langgraph_checkpoint_ns': 'planner:1|model:2',
        'traceloop.association.properties.langgraph_node': 'model',
      },
    },
    'planner',
  ],
  [
    'Traceloop, LangChain',
    {
      attributes: {
        'llm.request.type': 'chat',
        'traceloop.association.properties.lc_agent_name': 'weather_agent',
      },
    },
    'weather_agent',
  ],
  [
    'CrewAI in Traceloop',
    {
      name: 'Senior Researcher.agent',
      attributes: { 'traceloop.span.kind': 'agent', 'crewai.agent.role': 'Senior Researcher\n' },
    },
    'Senior Researcher',
  ],
  [
    'CrewAI in OpenInference',
    {
      name: 'Agent._execute_core',
      attributes: { 'openinference.span.kind': 'AGENT', 'graph.node.id': 'Senior Researcher' },
    },
    'Senior Researcher',
  ],
  [
    'CrewAI by the name of its span',
    { name: 'Researcher.agent', attributes: { 'agentops.span.kind': 'agent' } },
    'Researcher',
  ],
  [
    'AutoGen',
    { name: 'invoke_agent weather_agent', attributes: { 'gen_ai.operation.name': 'invoke_agent' } },
    'weather_agent',
  ],
  [
    'Semantic Kernel',
    {
      name: 'invoke_agent Host',
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'Host' },
    },
    'Host',
  ],
  [
    'smolagents',
    { name: 'weather_expert.run', attributes: { 'openinference.span.kind': 'AGENT' } },
    'weather_expert',
  ],
  [
    'Agno',
    { name: 'Weather_Agent.arun', attributes: { 'openinference.span.kind': 'AGENT' } },
    'Weather_Agent',
  ],
  ['Google ADK', { name: 'agent_run [supervisor]', scope: 'gcp.vertex.agent' }, 'supervisor'],
  [
    'Mastra',
    { name: "agent run: 'weather-agent'", attributes: { 'mastra.span.type': 'agent_run' } },
    'weather-agent',
  ],
  [
    'a run of OpenAI Agents',
    { name: 'Agent workflow', attributes: { 'openinference.span.kind': 'AGENT' } },
    'Agent workflow',
  ],
  [
    'an agent without a name',
    { name: 'invoke_agent', attributes: { 'gen_ai.operation.name': 'invoke_agent' } },
    'invoke_agent',
  ],
])('the agent is named: %s', (_name, shape, agent) => {
  expect(stepOf(shape).outline.agent).toBe(agent)
})
