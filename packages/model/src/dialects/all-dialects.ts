import { agentOps } from './agentops.ts'
import { claudeCode } from './claude-code.ts'
import { generic } from './generic.ts'
import { genkit } from './genkit.ts'
import { googleAdk } from './google-adk.ts'
import { haystack } from './haystack.ts'
import { laminar } from './laminar.ts'
import { langfuse } from './langfuse.ts'
import { langSmith } from './langsmith.ts'
import { liveKit } from './livekit.ts'
import { mastra } from './mastra.ts'
import { mcp } from './mcp.ts'
import { microsoft } from './microsoft.ts'
import { mlflow } from './mlflow.ts'
import { openAiAgents } from './openai-agents.ts'
import { openInference } from './openinference.ts'
import { openLlmetry } from './openllmetry.ts'
import { openLit } from './openlit.ts'
import { otelGenAi } from './otel-genai.ts'
import { playhead } from './playhead.ts'
import { pydanticAi } from './pydantic-ai.ts'
import { DialectSet } from './reading/dialect-set.ts'
import { spanEvents } from './span-events.ts'
import { strands } from './strands.ts'
import { unindexedPrompts } from './unindexed-prompts.ts'
import { vercelAi } from './vercel-ai.ts'

/**
 * All dialects. The list gives the precedence of their keys; the numbers give the order in which they are asked for
 * the kind of a step, for its label and for messages. A new dialect is one line, before `generic`.
 */
export const allDialects = new DialectSet([
  { dialect: playhead, kind: 1, label: 1 },
  { dialect: langfuse, kind: 2, label: 2 },
  // The standard's keys come early, but its label comes last, because most other dialects use its keys too.
  { dialect: otelGenAi, kind: 9, label: 99, messages: 1 },
  { dialect: openInference, kind: 3, label: 3, messages: 2 },
  { dialect: openLlmetry, kind: 11, label: 5, messages: 4 },
  { dialect: vercelAi, kind: 10, label: 4, messages: 6 },
  { dialect: openLit, label: 18 },
  { dialect: agentOps, kind: 4, label: 6, messages: 3 },
  { dialect: langSmith, kind: 5, label: 7 },
  { dialect: mastra, kind: 6, label: 8 },
  { dialect: laminar, kind: 13, label: 14 },
  { dialect: googleAdk, kind: 16, label: 9, messages: 9 },
  { dialect: pydanticAi, kind: 17, label: 13, messages: 8 },
  { dialect: mcp, kind: 19, label: 20 },
  { dialect: openAiAgents, kind: 8, label: 15, messages: 10 },
  { dialect: claudeCode, kind: 7, label: 12 },
  { dialect: mlflow, kind: 12, label: 11 },
  { dialect: strands, kind: 18, label: 10 },
  { dialect: microsoft, label: 19 },
  { dialect: haystack, kind: 20, label: 21, messages: 12 },
  { dialect: genkit, kind: 14, label: 16 },
  { dialect: liveKit, kind: 15, label: 17, messages: 5 },
  { dialect: spanEvents, messages: 7 },
  { dialect: unindexedPrompts, messages: 11 },
  { dialect: generic },
])
