import { expect, test } from 'vitest'
import { loadItems, loadSpans } from '../../../test/load-fixture.ts'
import type { Span } from '../../otlp/span.ts'
import type { StepOutline } from '../../session/step-draft.ts'
import { openAiAgentsItemToSpan } from '../../converters/openai-agents-items.ts'
import { spanToStep } from './span-to-step.ts'

const folders = [
  { folder: 'vercel-ai-v5', input: 4368, calls: 9 },
  { folder: 'vercel-ai-v7', input: 4368, calls: 9 },
  { folder: 'vercel-ai-v7legacy', input: 4368, calls: 9 },
  { folder: 'openinference-js', input: 4000, calls: 5 },
  { folder: 'openinference-openai-agents', input: 1080, calls: 9 },
  { folder: 'traceloop-0.27', input: 3782, calls: 4 },
  { folder: 'mastra-1.71', input: 240, calls: 2 },
  { folder: 'langfuse-js-v5', input: 360, calls: 3 },
  { folder: 'claude-code-2.1', input: 7040, calls: 2 },
  { folder: 'agentops-ts-0.1.0', input: 360, calls: 3 },
  { folder: 'otel-instrumentation-openai-js', input: 248, calls: 3 },
]

test.each(folders)('$folder sums up to $input input tokens in $calls calls', ({ folder, input, calls }) => {
  const counted = countedOf(loadSpans(`otlp/${folder}`).map((span) => spanToStep(span).outline))

  expect({ input: sumOf(counted, 'input'), calls: counted.length }).toEqual({ input, calls })
})

test('OpenAI Agents: turns count once, since exported responses have no tokens', () => {
  const spans = loadItems('otlp/openai-agents-js-0.20').map(
    (item) => openAiAgentsItemToSpan(item, 1n) as Span,
  )
  const counted = countedOf(spans.map((span) => spanToStep(span).outline))

  expect({ input: sumOf(counted, 'input'), calls: counted.length }).toEqual({ input: 1080, calls: 9 })
})

/** The two rules that keep wrappers and twice instrumented calls from being counted, in their simplest form. */
function countedOf(outlines: StepOutline[]): StepOutline[] {
  const counts = outlines.filter(
    (outline) => outline.usage?.input !== undefined && outline.isUsageRollup !== true,
  )
  const innermost = counts.filter(
    (outline) => !counts.some((other) => other !== outline && isBelow(other, outline, outlines)),
  )
  const seen = new Set<string>()
  return innermost.filter(({ responseId }) => {
    if (responseId === undefined) return true
    if (seen.has(responseId)) return false
    seen.add(responseId)
    return true
  })
}

function isBelow(step: StepOutline, ancestor: StepOutline, outlines: StepOutline[]): boolean {
  const parent = outlines.find((other) => other.sessionId === step.sessionId && other.id === step.parentId)
  return parent !== undefined && (parent === ancestor || isBelow(parent, ancestor, outlines))
}

function sumOf(outlines: StepOutline[], field: 'input'): number {
  return outlines.reduce((sum, { usage }) => sum + (usage?.[field] ?? 0), 0)
}
