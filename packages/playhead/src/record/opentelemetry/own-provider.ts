import type { Tracer, TracerProvider } from '@opentelemetry/api'
import { OwnTracer } from './own-tracer.ts'
import type { InstrumentationScope } from './recorded-span.ts'
import { resourceAttributes } from './resource-attributes.ts'
import type { Settings } from '../../runtime/settings.ts'
import type { SpanRecorder } from '../session/span-recorder.ts'

/** The tracer provider of a program that has none of its own. */
export function createProvider(recorder: SpanRecorder, settings: Settings): TracerProvider {
  const resource = { attributes: resourceAttributes(settings, process.env) }
  const tracers = new Map<string, Tracer>()
  return {
    getTracer(name, version) {
      const key = `${name}@${version ?? ''}`
      let tracer = tracers.get(key)
      if (tracer === undefined) {
        const scope: InstrumentationScope = { name, version }
        tracers.set(key, (tracer = new OwnTracer(recorder, resource, scope)))
      }
      return tracer
    },
  }
}
