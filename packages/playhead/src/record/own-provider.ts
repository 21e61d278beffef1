import { basename } from 'node:path'
import { envDetector, resourceFromAttributes, type Resource } from '@opentelemetry/resources'
import { AlwaysOnSampler, TracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace'
import type { Settings } from './settings.ts'
import type { SpanRecorder } from './span-recorder.ts'
import { VERSION } from './version.ts'

/** A conversation of many messages, written flat by some instrumentation, has thousands. */
const MAX_ATTRIBUTES = 4096

/** The tracer provider of a program that has none of its own. */
export function createProvider(recorder: SpanRecorder, settings: Settings): TracerProvider {
  const processor: SpanProcessor = {
    onStart: (span, parentContext) => recorder.onStart(span, parentContext, true),
    onEnd: (span) => recorder.onEnd(span),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  }
  return new TracerProvider({
    resource: describeProcess(settings),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [processor],
    spanLimits: { attributeCountLimit: MAX_ATTRIBUTES, eventCountLimit: 1024 },
  })
}

function describeProcess({ serviceName, environment, resource }: Settings): Resource {
  const given = resourceFromAttributes({
    ...(serviceName !== undefined && { 'service.name': serviceName }),
    ...(environment !== undefined && { 'deployment.environment.name': environment }),
    ...resource,
  })
  return resourceFromAttributes({
    'service.name': programName(),
    'telemetry.sdk.name': 'playhead',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.version': VERSION,
    'process.pid': process.pid,
  })
    .merge(resourceFromAttributes(envDetector.detect().attributes ?? {}))
    .merge(given)
}

/** The script without its folder and ending: what people call the program. */
function programName(): string {
  const script = process.argv[1]
  return script === undefined ? 'node' : basename(script).replace(/\.[cm]?[jt]s$/, '')
}
