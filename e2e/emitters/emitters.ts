import type { Emitter } from './emitter.ts'
import { node } from './node-emitters.ts'
import { openInference } from './openinference-emitters.ts'
import { others } from './other-emitters.ts'

const otel = ['opentelemetry-sdk', 'opentelemetry-exporter-otlp-proto-http']

const python = [...openInference, ...others].map((emitter) => ({
  ...emitter,
  language: 'python' as const,
  packages: [...emitter.packages, ...otel],
}))

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
