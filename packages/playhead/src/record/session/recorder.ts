import { AsyncLocalStorage } from 'node:async_hooks'
import {
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api'
import {
  createRedactor,
  parseSessionIdPrefix,
  type Redactor,
  type RedactRule,
  type Session,
} from '@playhead/model'
import { createContextScope } from '../opentelemetry/context-scope.ts'
import { findHostProvider, lendProvider } from '../opentelemetry/host-provider.ts'
import { createProvider } from '../opentelemetry/own-tracer.ts'
import { OWN_SCOPE, parentIdOf, type RecordedSpan } from '../opentelemetry/recorded-span.ts'
import { VERSION, type ResourceSettings } from '../opentelemetry/resource-attributes.ts'
import { SpanSanitizer } from '../opentelemetry/span-sanitizer.ts'
import { summarizeError } from '../value/describe-error.ts'
import { readField, toText } from '../value/host-value.ts'
import {
  serializeTyped,
  serializeValue,
  type Serialized,
  type SerializeOptions,
  type TypedValue,
} from '../value/serialize-value.ts'
import { activeRun } from './active-run.ts'
import { CompactList } from './compact-list.ts'
import { readSession } from './read-session.ts'
import { recordScore } from './record-score.ts'
import { Reporter } from './reporter.ts'
import { frameOf, isInSession, openFrameOf, skipEndedSessions, type SessionFrame } from './session-frame.ts'
import { contextFromHeaders } from './session-headers.ts'
import { recordOf, type SessionRecord } from './session-record.ts'
import { SessionStore } from './session-store.ts'
import { ownSource, SessionView } from './session-view.ts'
import { SpanProcessor, type StepListener } from './span-processor.ts'

export type RecorderSettings = ResourceSettings & {
  /** Added to every session of this process. */
  tags: readonly string[]
  redact: readonly RedactRule[]
  isContentKept: boolean
  maxValueBytes: number
  keepSessions: number
}

/** Records the steps of this process: its settings, its sessions, and which of them the running code belongs to. */
export class Recorder {
  isOn = false
  /** True once the host has created our span processor, which it adds to its own tracer provider. */
  hasHostProcessor = false
  tags: readonly string[] = []
  serializeOptions!: SerializeOptions
  redactor!: Redactor
  sanitizer!: SpanSanitizer
  faultCount = 0
  readonly reporter = new Reporter()
  readonly scope = createContextScope()
  readonly store = new SessionStore()
  readonly openFrames = new CompactList<SessionFrame>()
  /** Where recorded steps go. */
  readonly listeners: StepListener[] = []
  readonly spans = new SpanProcessor(this.store, this.listeners, (error) => this.fault(error))
  readonly #urlOf: (record: SessionRecord) => string
  #ownTracer!: Tracer
  #hostTracer: Tracer | undefined
  /** The id of the last session that this async flow opened around a callback. */
  readonly #lastSessionId = new AsyncLocalStorage<string | undefined>()
  /** The session of the parent process, if the environment names one. */
  #inherited: Context | undefined

  /** `urlOf` finds the page or file that shows a session. */
  constructor(urlOf: (record: SessionRecord) => string) {
    this.#urlOf = urlOf
  }

  configure(settings: RecorderSettings): void {
    const { maxValueBytes: maxLength, isContentKept, redact } = settings
    const redactor = createRedactor(redact)
    this.tags = settings.tags
    this.redactor = redactor
    this.sanitizer = new SpanSanitizer({ redactor, hasRules: redact.length > 0, maxLength, isContentKept })
    this.serializeOptions = { maxLength, isContentKept, isSecretKey: redactor.isSecretKey }
    this.store.keepSessions = settings.keepSessions
    const { TRACEPARENT: traceparent, BAGGAGE: baggage } = process.env
    const inherited = contextFromHeaders({ traceparent, baggage })
    this.#inherited = inherited.isSession ? inherited.context : undefined
    this.#createTracer(settings)
  }

  #createTracer(settings: ResourceSettings): void {
    const provider = createProvider(this.spans, settings)
    this.#ownTracer = provider.getTracer(OWN_SCOPE, VERSION)
    if (findHostProvider() === undefined) lendProvider(provider, (error) => this.fault(error))
    else if (!this.hasHostProcessor)
      this.reporter.once(
        'otel',
        'OpenTelemetry is already set up in this program. To include its spans in sessions, add playhead.playheadSpanProcessor() to the span processors of its tracer provider.',
      )
  }

  /** Runs SDK code: an error in it is counted and never reaches the host. */
  guard<Result>(callback: () => Result): Result | undefined {
    try {
      return callback()
    } catch (error) {
      this.fault(error)
      return undefined
    }
  }

  fault(error: unknown): void {
    this.faultCount += 1
    const text = toText(readField(error, 'stack')) ?? summarizeError(error)
    this.reporter.once(
      'fault',
      `Playhead hit an internal error; the recording may be incomplete. Please report it.\n${text}`,
    )
  }

  /** The host's tracer if our span processor listens to it, otherwise our own. */
  tracer(): Tracer {
    if (!this.hasHostProcessor) return this.#ownTracer
    this.#hostTracer ??= findHostProvider()?.getTracer(OWN_SCOPE, VERSION)
    return this.#hostTracer ?? this.#ownTracer
  }

  /** For code that starts spans in the active context and knows nothing about sessions. */
  readonly sessionTracer: Tracer = {
    startSpan: (name, options, context) =>
      this.tracer().startSpan(
        name,
        options,
        this.stepContext(skipEndedSessions(context ?? this.scope.active())),
      ),
    startActiveSpan: ((...args: Parameters<Tracer['startActiveSpan']>) =>
      this.tracer().startActiveSpan(...args)) as Tracer['startActiveSpan'],
  }

  /** Starts the first span of a session. */
  startSessionSpan(name: string, options: SpanOptions, context: Context): Span {
    this.spans.isSessionStarting = true
    try {
      return this.tracer().startSpan(name, options, context)
    } finally {
      this.spans.isSessionStarting = false
    }
  }

  /**
   * The context that a new step belongs to. Outside of any session, this is the session of the parent process, if it has
   * one. Inside a span that is not recorded, it is the nearest recorded step around it.
   */
  parentContext(context: Context): Context {
    const frame = frameOf(context)
    const active = trace.getSpan(context)
    if (active === undefined) return frame === undefined ? (this.#inherited ?? context) : context
    if (frame === undefined || active === frame.span || recordOf(active) !== undefined) return context
    const parentId = parentIdOf(active as unknown as RecordedSpan)
    const step = parentId === undefined ? undefined : frame.record.open.get(parentId)
    return trace.setSpan(context, (step as unknown as Span | undefined) ?? frame.span)
  }

  /** Like `parentContext`, for a step. In a run whose agent opens no session, the step opens the session of the run. */
  stepContext(context: Context): Context {
    const parent = this.parentContext(context)
    return isInSession(this, parent) ? parent : (activeRun()?.openSession(this) ?? parent)
  }

  serialize(value: unknown): Serialized {
    return serializeValue(value, this.serializeOptions)
  }

  /** Also with what JSON loses of it, so that the value can be restored. */
  serializeTyped(value: unknown): TypedValue {
    return serializeTyped(value, this.serializeOptions, (text) => this.redactor.text(text, '') !== text)
  }

  readSession(record: SessionRecord, options: { isPriced: boolean }): Session {
    return readSession(record, this.sanitizer, options)
  }

  viewOf(record: SessionRecord): SessionView {
    record.view ??= new SessionView(
      ownSource({
        id: record.id,
        url: this.#urlOf(record),
        read: (options) => this.guard(() => this.readSession(record, options)),
        score: (name, value, options) =>
          this.guard(() => recordScore(this, record, { name, value, options })),
      }),
    )
    return record.view
  }

  currentFrame(): SessionFrame | undefined {
    return openFrameOf(this.scope.active())
  }

  /** The session that is open here, otherwise the last one that was. */
  currentRecord(): SessionRecord | undefined {
    const context = this.scope.active()
    const open = openFrameOf(context)
    if (open !== undefined) return open.record
    const spanContext = trace.getSpanContext(skipEndedSessions(context))
    const traced = spanContext === undefined ? undefined : this.store.find(spanContext.traceId)
    const lastId = this.#lastSessionId.getStore()
    const last = lastId === undefined ? undefined : this.store.find(lastId)
    return traced ?? (last?.open.size === 0 ? last : undefined) ?? frameOf(context)?.record
  }

  /** Remembers a session for the rest of this async flow, which goes on outside of it. */
  leaveSession(record: SessionRecord | undefined): void {
    this.#lastSessionId.enterWith(record?.id)
  }

  /** Finds a session by its id or an id prefix, with or without `s_`. */
  findRecord(id: string): SessionRecord | undefined {
    const prefix = typeof id === 'string' ? parseSessionIdPrefix(id) : undefined
    return prefix === undefined ? undefined : this.store.find(prefix)
  }

  /** Sets attributes on the root step of the current session, unless it has ended. */
  setSessionAttributes(attributesFor: (root: RecordedSpan) => Attributes): void {
    let frame = this.currentFrame()
    while (frame?.outer !== undefined && frame.outer.record === frame.record) frame = frame.outer
    if (frame === undefined) return
    const { span, record } = frame
    span.setAttributes(attributesFor(span as unknown as RecordedSpan))
    record.changeCount += 1
  }

  /** Makes a step's trace part of the session of an earlier trace, as the server does. */
  joinTrace(span: Span, earlierTraceId: string): void {
    const [part, earlier] = [recordOf(span), this.store.find(earlierTraceId)]
    // A run knows its sessions by their records.
    if (part === undefined || earlier === undefined || part === earlier || activeRun() !== undefined) return
    this.store.join(part, earlier)
  }

  onSessionEnd(): void {
    for (const listener of this.listeners) listener.onSessionEnd?.()
  }
}
