import type { Attributes } from '@opentelemetry/api'
import type { Usage } from '@playhead/model'

/** Token counts, and US dollars if the provider or the host reports a cost. */
export type ReportedUsage = Usage & { cost?: number | undefined }

const names: Record<keyof ReportedUsage, string> = {
  input: 'gen_ai.usage.input_tokens',
  output: 'gen_ai.usage.output_tokens',
  total: 'gen_ai.usage.total_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_write.input_tokens',
  // The conventions have no names for Anthropic's cache lifetimes; these are Mastra's.
  cacheWrite5m: 'gen_ai.usage.cache_creation.5m_input_tokens',
  cacheWrite1h: 'gen_ai.usage.cache_creation.1h_input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  audioInput: 'gen_ai.usage.audio.input_tokens',
  audioOutput: 'gen_ai.usage.audio.output_tokens',
  imageInput: 'gen_ai.usage.image.input_tokens',
  cost: 'gen_ai.usage.cost',
}

/** Writes usage in OpenTelemetry's semantic conventions. */
export function usageAttributes(usage: ReportedUsage | undefined): Attributes {
  const attributes: Attributes = {}
  if (usage === undefined) return attributes
  for (const field of Object.keys(names) as (keyof ReportedUsage)[]) {
    const value = usage[field]
    if (typeof value === 'number') attributes[names[field]] = value
  }
  return attributes
}
