import { context, trace, type Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace'
import {
  priceStep,
  resolveSteps,
  spanToStep,
  type ResolvedStep,
  type Span,
  type StepContent,
  type StepDraft,
  type StepOutline,
} from '@playhead/model'
import { createPricer } from '@playhead/model/prices'
import { installCapture, type Capture, type CaptureOptions } from '../../src/capture/hooks/install-capture.ts'

const exporter = new InMemorySpanExporter()
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(provider)

export const tracer: Tracer = provider.getTracer('playhead')
/** The tracer of another instrumentation. */
export const otherTracer: Tracer = provider.getTracer('other')
const pricer = createPricer()

/** One step as the server would show it, and its span. */
type RecordedStep = { step: ResolvedStep; content: StepContent; span: Span }

export type Recorder = Capture & {
  reports: string[]
  /** All steps that have ended, in the order of their start. */
  steps(): RecordedStep[]
  /** The calls among them that the capture recorded. */
  calls(): RecordedStep[]
  /** The actions that only the conversation shows. */
  inferred(): ResolvedStep[]
  /** The only call; more or fewer fail the test. */
  call(): RecordedStep
  reset(): void
}

/** Installs the capture with a tracer whose spans the model parses. */
export function startRecorder(change: Partial<CaptureOptions> = {}): Recorder {
  exporter.reset()
  const reports: string[] = []
  const capture = installCapture({
    tracer: () => tracer,
    content: true,
    redactText: (text) => text,
    maxValueBytes: 256 * 1024,
    report: (line) => reports.push(line),
    isOwnRequest: () => false,
    ...change,
  })
  const steps = () => readSteps(exporter.getFinishedSpans())
  const inferred = () =>
    resolveAll(exporter.getFinishedSpans().map(toSpan).map(spanToStep)).filter(
      ({ isInferred }) => isInferred === true,
    )
  const calls = () =>
    steps().filter(
      ({ step, span }) =>
        span.scope.name === 'playhead' && (step.kind === 'llm' || step.kind === 'embedding'),
    )
  return {
    ...capture,
    reports,
    steps,
    calls,
    inferred,
    call() {
      const found = calls()
      if (found.length !== 1) throw new Error(`${found.length} calls were recorded instead of 1.`)
      return found[0]!
    },
    reset: () => exporter.reset(),
  }
}

/** Runs a callback inside its own span, like a recorded action. */
export function inAction<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  return tracer.startActiveSpan(name, { attributes: { 'playhead.step.kind': 'action' } }, async (span) => {
    try {
      return await run()
    } finally {
      span.end()
    }
  })
}

function readSteps(finished: readonly ReadableSpan[]): RecordedStep[] {
  const spans = finished.map(toSpan)
  const drafts = spans.map(spanToStep)
  return resolveAll(drafts)
    .filter(({ isInferred }) => isInferred !== true)
    .map((step) => ({
      step,
      content: drafts.find(({ outline }) => outline.id === step.id)!.content,
      span: spans.find(({ spanId }) => spanId === step.id)!,
    }))
    .sort((left, right) => Number(left.span.startNs - right.span.startNs))
}

function resolveAll(drafts: readonly StepDraft[]): ResolvedStep[] {
  const bySession = Map.groupBy(drafts, ({ outline }) => outline.sessionId)
  return [...bySession.values()].flatMap((group) => resolveSteps(group.map(({ outline }) => priced(outline))))
}

function priced(outline: StepOutline): StepOutline {
  return priceStep(outline, pricer) ?? outline
}

function toSpan(span: ReadableSpan): Span {
  const { traceId, spanId } = span.spanContext()
  const toNs = ([seconds, rest]: readonly [number, number]) => BigInt(seconds) * 1_000_000_000n + BigInt(rest)
  return {
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    isParentRemote: false,
    name: span.name,
    kind: span.kind + 1,
    startNs: toNs(span.startTime),
    endNs: toNs(span.endTime),
    statusCode: span.status.code,
    statusMessage: span.status.message ?? '',
    attributes: span.attributes as Span['attributes'],
    events: span.events.map(({ name, time, attributes }) => ({
      name,
      timeNs: toNs(time),
      attributes: (attributes ?? {}) as Span['attributes'],
    })),
    links: [],
    resource: span.resource.attributes as Span['resource'],
    scope: { name: span.instrumentationScope.name, version: span.instrumentationScope.version ?? '' },
  }
}
