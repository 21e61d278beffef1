import { AsyncLocalStorage } from 'node:async_hooks'
import { pathToFileURL } from 'node:url'
import {
  ROOT_CONTEXT,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api'
import { createRedactor, parseSessionIdPrefix, type Redactor } from '@playhead/model'
import { installCapture, type Capture } from '../capture/hooks/install-capture.ts'
import { Delivery } from '../deliver/delivery.ts'
import { ExitHooks } from '../deliver/exit-hooks.ts'
import { OutgoingValues } from '../record/opentelemetry/outgoing-values.ts'
import { RecordingFiles } from '../deliver/recording-files.ts'
import { RunningSteps } from '../deliver/running-steps.ts'
import { sendLastSteps } from '../deliver/send-at-exit.ts'
import { closeAllSessions } from '../record/session/session-lifecycle.ts'
import { CompactList } from '../record/session/compact-list.ts'
import {
  createContextScope,
  type ContextScope,
  suppressTracing,
} from '../record/opentelemetry/context-scope.ts'
import { hostsProvider, lendProvider } from '../record/opentelemetry/lend-provider.ts'
import { createProvider } from '../record/opentelemetry/own-tracer.ts'
import { OWN_SCOPE, parentIdOf, type RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import { propagateOverHttp, type Propagation } from '../record/session/propagate-over-http.ts'
import { readSession } from '../record/session/read-session.ts'
import { Reporter } from '../record/session/reporter.ts'
import { serializeValue, type Serialized, type SerializeOptions } from '../record/value/serialize-value.ts'
import { frameOf, openFrameOf, settleContext, type SessionFrame } from '../record/session/session-frame.ts'
import { contextFromHeaders } from '../record/session/session-headers.ts'
import type { SessionRecord } from '../record/session/session-record.ts'
import { SessionStore } from '../record/session/session-store.ts'
import { SessionView } from '../record/session/session-view.ts'
import type { Settings } from './settings.ts'
import { recordOf, SpanRecorder } from '../record/session/span-recorder.ts'
import { VERSION } from '../record/opentelemetry/resource-attributes.ts'

/** Everything that records in this process. There is one, whoever imports the package and how often `init` is called. */
export class Runtime {
  isOn = false
  /** True once the host added our span processor to its tracer provider. */
  isJoined = false
  settings: Settings
  serializeOptions!: SerializeOptions
  readonly reporter = new Reporter()
  readonly store = new SessionStore()
  readonly openFrames = new CompactList<SessionFrame>()
  readonly scope: ContextScope
  readonly recorder: SpanRecorder
  readonly delivery: Delivery
  readonly runningSteps: RunningSteps
  readonly recordings: RecordingFiles
  faultCount = 0
  capture: Capture | undefined
  readonly #exitHooks: ExitHooks
  #redactor!: Redactor
  #outgoing!: OutgoingValues
  #tracer!: Tracer
  #hostsTracer: Tracer | undefined
  #propagation: Propagation | undefined
  /** The session of the process that started this one, when it said so in the environment. */
  #inherited: Context | undefined

  constructor(settings: Settings) {
    this.settings = settings
    this.scope = createContextScope()
    const leave = AsyncLocalStorage.snapshot()
    const outside = (callback: () => void) =>
      leave(() => this.scope.run(suppressTracing(ROOT_CONTEXT), callback))
    const onFault = (error: unknown) => this.fault(error)
    this.delivery = new Delivery({
      outgoing: () => this.#outgoing,
      reporter: this.reporter,
      outside,
      onFault,
    })
    this.runningSteps = new RunningSteps({
      store: this.store,
      announce: (span, record) => this.delivery.announce(span, record),
      outside,
    })
    this.recordings = new RecordingFiles({
      sessionOf: (record) => readSession(record, this.#outgoing, { isPriced: true }),
      outside,
      onProblem: (error) =>
        this.reporter.once(
          'dir',
          `Recordings can't be written to ${this.settings.dir}: ${(error as Error).message}`,
        ),
    })
    this.recorder = new SpanRecorder(this.store, [this.delivery, this.runningSteps, this.recordings], onFault)
    this.#exitHooks = this.#createExitHooks()
  }

  /** Takes over settings; called by every `init`. */
  configure(settings: Settings): void {
    this.settings = settings
    this.reporter.isSilent = settings.isSilent
    for (const problem of settings.problems) this.reporter.once(problem, problem)
    this.#redactor = createRedactor(settings.redact)
    const { maxValueBytes: maxLength, isContentKept } = settings
    const hasRules = settings.redact.length > 0
    this.#outgoing = new OutgoingValues({ redactor: this.#redactor, hasRules, maxLength, isContentKept })
    this.serializeOptions = { maxLength, isContentKept, isSecretKey: this.#redactor.isSecretKey }
    this.store.keepSessions = settings.keepSessions
    this.recordings.folder = settings.dir
    const { endpoint, apiKey, spool } = settings
    this.delivery.configure(endpoint === undefined ? undefined : { endpoint, apiKey }, spool)
    const { TRACEPARENT: traceparent, BAGGAGE: baggage } = process.env
    const inherited = contextFromHeaders({ traceparent, baggage })
    this.#inherited = inherited.isSession ? inherited.context : undefined
    this.#start()
  }

  #start(): void {
    const provider = createProvider(this.recorder, this.settings)
    this.#tracer = provider.getTracer(OWN_SCOPE, VERSION)
    if (hostsProvider() === undefined) lendProvider(provider, (error) => this.fault(error))
    else if (!this.isJoined)
      this.reporter.once(
        'otel',
        'OpenTelemetry is already set up in this program. Add playhead.playheadSpanProcessor() to the span processors of its provider, and its spans become part of the sessions.',
      )
    this.#captureModelCalls()
    if (this.isOn) return
    this.isOn = true
    this.#exitHooks.install()
    this.#propagation = propagateOverHttp({
      active: () => this.scope.active(),
      enter: (context) => this.scope.enter(context),
      propagate: () => this.settings.propagate,
      onFault: (error) => this.fault(error),
    })
  }

  #captureModelCalls(): void {
    this.capture?.uninstall()
    this.capture = undefined
    const { isLlmCaptured, isContentKept, maxValueBytes, endpoint } = this.settings
    if (!isLlmCaptured) return
    const own = endpoint === undefined ? undefined : new URL(endpoint)
    this.capture = installCapture({
      tracer: () => this.#settlingTracer,
      content: isContentKept,
      redactText: (text) => this.#redactor.text(text, 'text'),
      isSecretKey: (key) => this.#redactor.isSecretKey(key),
      maxValueBytes,
      report: (line) => this.reporter.once(line, line),
      isOwnRequest: (url) => url.host === own?.host && url.pathname.endsWith('/v1/traces'),
    })
  }

  async stop(timeoutMs: number): Promise<boolean> {
    closeAllSessions(this, { reason: 'Recording was shut down' })
    const [isDelivered] = await Promise.all([this.delivery.flush(timeoutMs), this.recordings.flush()])
    this.isOn = false
    this.capture?.uninstall()
    this.capture = undefined
    this.#propagation?.stop()
    this.#exitHooks.uninstall()
    this.runningSteps.stop()
    return isDelivered
  }

  /** Runs code of ours: what goes wrong in it is counted and never reaches the host. */
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
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.reporter.once(
      'fault',
      `Something went wrong in playhead, and something may not be recorded; please report it.\n${text}`,
    )
  }

  /** The host's tracer when our span processor listens to it, else our own. */
  tracer(): Tracer {
    if (!this.isJoined) return this.#tracer
    this.#hostsTracer ??= hostsProvider()?.getTracer(OWN_SCOPE, VERSION)
    return this.#hostsTracer ?? this.#tracer
  }

  /** Starts the first span of a session. */
  startSessionSpan(name: string, options: SpanOptions, context: Context): Span {
    this.recorder.isSessionStarting = true
    try {
      return this.tracer().startSpan(name, options, context)
    } finally {
      this.recorder.isSessionStarting = false
    }
  }

  /** For whoever begins steps in the active context without knowing of sessions. */
  readonly #settlingTracer: Tracer = {
    startSpan: (name, options, context) =>
      this.tracer().startSpan(name, options, this.place(settleContext(context ?? this.scope.active()))),
    startActiveSpan: ((...args: Parameters<Tracer['startActiveSpan']>) =>
      this.tracer().startActiveSpan(...args)) as Tracer['startActiveSpan'],
  }

  /**
   * Where a step belongs. In no session it is in that of the process that started this one, if there is any; inside a span
   * that is not recorded it is in the step around that.
   */
  place(context: Context): Context {
    const frame = frameOf(context)
    const active = trace.getSpan(context)
    if (active === undefined) return frame === undefined ? (this.#inherited ?? context) : context
    if (frame === undefined || active === frame.span || recordOf(active) !== undefined) return context
    const parentId = parentIdOf(active as unknown as RecordedSpan)
    const step = parentId === undefined ? undefined : frame.record.open.get(parentId)
    return trace.setSpan(context, (step as unknown as Span | undefined) ?? frame.span)
  }

  serialize(value: unknown): Serialized {
    return serializeValue(value, this.serializeOptions)
  }

  viewOf(record: SessionRecord): SessionView {
    record.view ??= new SessionView({
      id: record.id,
      url: this.#urlOf(record),
      read: (options) => readSession(record, this.#outgoing, options),
    })
    return record.view
  }

  #urlOf(record: SessionRecord): string {
    const path = this.settings.endpoint === undefined ? this.recordings.pathOf(record) : undefined
    if (path !== undefined) return pathToFileURL(path).href
    return this.settings.endpoint === undefined ? '' : `${this.settings.endpoint}/sessions/${record.id}`
  }

  currentFrame(): SessionFrame | undefined {
    return openFrameOf(this.scope.active())
  }

  /** The session that is open here, else the one that was. */
  currentRecord(): SessionRecord | undefined {
    const context = this.scope.active()
    const open = openFrameOf(context)
    if (open !== undefined) return open.record
    const spanContext = trace.getSpanContext(settleContext(context))
    const traced = spanContext === undefined ? undefined : this.store.find(spanContext.traceId)
    return traced ?? frameOf(context)?.record
  }

  /** By id or its beginning, with or without `s_`. */
  findRecord(id: string): SessionRecord | undefined {
    const prefix = parseSessionIdPrefix(id)
    return prefix === undefined ? undefined : this.store.find(prefix)
  }

  /** Sets attributes of the step that stands for the current session, as long as that has not ended. */
  describeSession(attributesOf: (span: RecordedSpan) => Attributes): void {
    let frame = this.currentFrame()
    while (frame?.outer !== undefined && frame.outer.record === frame.record) frame = frame.outer
    if (frame === undefined) return
    const span: Span = frame.span
    span.setAttributes(attributesOf(span as unknown as RecordedSpan))
    frame.record.changeCount += 1
  }

  #createExitHooks(): ExitHooks {
    return new ExitHooks({
      hasWork: () => this.delivery.hasWork || this.recordings.hasWork,
      recordedCount: () => this.delivery.counts.recorded,
      closeSessions: (why) => this.guard(() => closeAllSessions(this, why)),
      drain: (timeoutMs) => Promise.all([this.delivery.flush(timeoutMs), this.recordings.flush()]),
      drainSync: () =>
        this.guard(() => {
          this.recordings.flushSync()
          sendLastSteps(this.delivery)
        }),
    })
  }
}
