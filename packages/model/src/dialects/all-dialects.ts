import { agentOps } from './agentops.ts'
import { claudeCode } from './claude-code.ts'
import { ALWAYS, type Dialect, type Reading } from './reading/dialect.ts'
import { inputOfEvents, outputOfEvents } from './reading/event-messages.ts'
import { generic } from './generic.ts'
import { genkit } from './genkit.ts'
import { googleAdk } from './google-adk.ts'
import { laminar } from './laminar.ts'
import { langfuse } from './langfuse.ts'
import { langSmith, unindexedPrompts } from './langsmith.ts'
import { liveKit } from './livekit.ts'
import { mastra } from './mastra.ts'
import { mcp } from './mcp.ts'
import { microsoft } from './microsoft.ts'
import { mlflow } from './mlflow.ts'
import { openAiAgents } from './openai-agents.ts'
import { openInference } from './openinference.ts'
import { indexedPrompts, openLlmetry } from './openllmetry.ts'
import { openLit } from './openlit.ts'
import { messageAttributes, otelGenAi } from './otel-genai.ts'
import { playhead } from './playhead.ts'
import { pydanticAi } from './pydantic-ai.ts'
import { strands } from './strands.ts'
import { promptAndResponse, vercelAi } from './vercel-ai.ts'

const spanEvents: Dialect = {
  name: 'span-events',
  inputMessages: ({ span }) => (span.events.length === 0 ? undefined : inputOfEvents(span.events)),
  outputMessages: ({ span }) => (span.events.length === 0 ? undefined : outputOfEvents(span.events)),
}

/** Every dialect, in the order in which their keys are believed. At most 30: each is a bit of `Reading.signs`. */
export const allDialects: readonly Dialect[] = [
  playhead,
  langfuse,
  otelGenAi,
  openInference,
  openLlmetry,
  vercelAi,
  openLit,
  agentOps,
  langSmith,
  mastra,
  laminar,
  googleAdk,
  pydanticAi,
  mcp,
  openAiAgents,
  claudeCode,
  mlflow,
  strands,
  microsoft,
  genkit,
  liveKit,
  unindexedPrompts,
  generic,
]

/** The order in which dialects are asked what kind of step it is. Words of one dialect go before shapes of all. */
export const kindOrder = withBits([
  playhead,
  langfuse,
  openInference,
  agentOps,
  langSmith,
  mastra,
  claudeCode,
  openAiAgents,
  otelGenAi,
  vercelAi,
  openLlmetry,
  mlflow,
  laminar,
  genkit,
  liveKit,
  googleAdk,
  pydanticAi,
  strands,
  mcp,
])

/** The order in which a step's label is decided. */
export const labelOrder = withBits([
  playhead,
  langfuse,
  openInference,
  vercelAi,
  openLlmetry,
  agentOps,
  langSmith,
  mastra,
  googleAdk,
  strands,
  mlflow,
  claudeCode,
  pydanticAi,
  laminar,
  openAiAgents,
  genkit,
  liveKit,
  openLit,
  microsoft,
  mcp,
  otelGenAi,
])

/** The order in which messages are looked for. */
export const messageOrder = withBits([
  messageAttributes,
  openInference,
  agentOps,
  indexedPrompts,
  liveKit,
  promptAndResponse,
  spanEvents,
  pydanticAi,
  googleAdk,
  openAiAgents,
  unindexedPrompts,
])

export const expandOrder = withBits(allDialects.filter((dialect) => dialect.expand !== undefined))

/** True when the span has a key, or comes from a scope, that is a sign of the dialect. */
export function speaks(reading: Reading, dialect: Dialect): boolean {
  return (reading.signs & bitOf(dialect)) !== 0
}

/** A dialect that nothing is a sign of is always asked. */
function bitOf(dialect: Dialect): number {
  const hasSigns = dialect.signs !== undefined || dialect.scopes !== undefined
  return hasSigns ? 1 << allDialects.indexOf(dialect) : ALWAYS
}

function withBits(dialects: readonly Dialect[]): readonly { dialect: Dialect; bit: number }[] {
  return dialects.map((dialect) => ({ dialect, bit: bitOf(dialect) }))
}
