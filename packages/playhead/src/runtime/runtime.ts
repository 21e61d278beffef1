import { pathToFileURL } from 'node:url'
import { installCapture, type Capture } from '../capture/hooks/install-capture.ts'
import { Delivery } from '../deliver/delivery.ts'
import { ExitHooks } from '../deliver/exit-hooks.ts'
import { RecordingFiles } from '../deliver/recording-files.ts'
import { RunningSteps } from '../deliver/running-steps.ts'
import { sendAtExit } from '../deliver/send-at-exit.ts'
import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import { propagateOverHttp } from '../record/session/propagate-over-http.ts'
import { Recorder } from '../record/session/recorder.ts'
import { closeAllSessions } from '../record/session/session-lifecycle.ts'
import type { SessionRecord } from '../record/session/session-record.ts'
import type { Settings } from './settings.ts'

/** Connects the parts of the SDK: what is captured is recorded, and what is recorded is sent or written to files. */
export class Runtime {
  readonly recorder = new Recorder((record) => this.#urlOf(record))
  readonly delivery = new Delivery(this.recorder)
  readonly recordings = new RecordingFiles(this.recorder)
  capture: Capture | undefined
  readonly #runningSteps = new RunningSteps(this.recorder, this.delivery)
  readonly #exitHooks = this.#createExitHooks()
  #settings: Settings
  #stopPropagation = () => {}

  constructor(settings: Settings) {
    this.#settings = settings
    this.recorder.listeners.push(this.delivery, this.#runningSteps, this.recordings)
  }

  /** Applies settings and starts recording; called by every `init`. */
  configure(settings: Settings): void {
    this.#settings = settings
    const { recorder } = this
    recorder.reporter.isSilent = settings.isSilent
    for (const problem of settings.problems) recorder.reporter.once(problem, problem)
    recorder.configure(settings)
    this.recordings.folder = settings.dir
    const { endpoint, apiKey, project, spool } = settings
    this.delivery.configure(endpoint === undefined ? undefined : { endpoint, apiKey, project }, spool)
    this.#captureModelCalls()
    if (recorder.isOn) return
    recorder.isOn = true
    this.#exitHooks.install()
    this.#stopPropagation = propagateOverHttp(recorder, () => this.#settings.propagate)
  }

  #captureModelCalls(): void {
    this.capture?.uninstall()
    this.capture = undefined
    const { isLlmCaptured, isContentKept, maxValueBytes, endpoint } = this.#settings
    if (!isLlmCaptured) return
    const { recorder } = this
    const { redactor, reporter } = recorder
    const server = endpoint === undefined ? undefined : new URL(endpoint)
    this.capture = installCapture({
      tracer: () => recorder.sessionTracer,
      content: isContentKept,
      redactText: (text) => redactor.text(text, 'text'),
      isSecretKey: (key) => redactor.isSecretKey(key),
      maxValueBytes,
      report: (line) => reporter.once(line, line),
      onContinued: (span, earlierTraceId) => recorder.joinTrace(span, earlierTraceId),
      isOwnRequest: (url) => url.host === server?.host && url.pathname.endsWith('/v1/traces'),
    })
  }

  /** Sends and writes everything; true if the server has it all. */
  async flush(timeoutMs: number): Promise<boolean> {
    const [isDelivered] = await Promise.all([this.delivery.flush(timeoutMs), this.recordings.flush()])
    return isDelivered
  }

  async stop(timeoutMs: number): Promise<boolean> {
    this.#closeSessions({ reason: 'Recording was shut down' })
    const isDelivered = await this.flush(timeoutMs)
    this.recorder.isOn = false
    this.capture?.uninstall()
    this.capture = undefined
    this.#stopPropagation()
    this.#exitHooks.uninstall()
    this.#runningSteps.stop()
    return isDelivered
  }

  #closeSessions(why: { reason: string; error?: unknown }): void {
    this.#runningSteps.announce(0)
    for (const { span, record } of closeAllSessions(this.recorder, why))
      this.delivery.announce(span as unknown as RecordedSpan, record)
  }

  #createExitHooks(): ExitHooks {
    return new ExitHooks({
      hasWork: () => this.delivery.hasWork || this.recordings.hasWork,
      recordedCount: () => this.delivery.counts.recorded,
      closeSessions: (why) => this.recorder.guard(() => this.#closeSessions(why)),
      flush: (timeoutMs) => this.flush(timeoutMs),
      flushSync: () =>
        this.recorder.guard(() => {
          this.recordings.flushSync()
          sendAtExit(this.delivery, this.#settings.maxExitDelayMs)
        }),
    })
  }

  #urlOf(record: SessionRecord): string {
    const { endpoint } = this.#settings
    if (endpoint !== undefined) return `${endpoint}/sessions/${record.id}`
    const path = this.recordings.pathOf(record)
    return path === undefined ? '' : pathToFileURL(path).href
  }
}

/** As with the recorder, the ES module and the CommonJS copy of this package share one runtime. */
const KEY = Symbol.for('playhead.runtime.0')

const holder = globalThis as { [KEY]?: Runtime | undefined }

/** The runtime that `init` created, even after `shutdown`. */
export function knownRuntime(): Runtime | undefined {
  return holder[KEY]
}

export function setRuntime(runtime: Runtime): void {
  holder[KEY] = runtime
}
