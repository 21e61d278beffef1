import { Buffer } from 'node:buffer'
import {
  emptyAttributes,
  isMiss,
  isRecord,
  missResponse,
  parseJson,
  rebuildResponse,
  spanToStep,
  visibleText,
  type ModelRequest,
  type StepContent,
  type StepOutline,
  type Tape,
  type TapedResponse,
  type TapeMiss,
} from '@playhead/model'
import { requestAttributesOf } from '../capture/calls/call-span.ts'
import { ContentWriter } from '../capture/calls/content-writer.ts'
import { recognizeRequest } from '../capture/calls/recognize-request.ts'
import type { CaptureOptions } from '../capture/calls/active-capture.ts'
import type { ActiveTape, TapedResult, TapeRequest } from '../record/session/active-tape.ts'
import { reviveResult } from './revive-result.ts'

export type RunCounts = { taped: number; live: number; stubbed: number }

/** Thrown by an action that the tape has no result for. */
export class TapeMissError extends Error {
  override readonly name = 'TapeMissError'
}

/** A run whose model calls and actions all come from the tape. */
export class RunTape implements ActiveTape {
  readonly counts: RunCounts = { taped: 0, live: 0, stubbed: 0 }
  readonly misses: TapeMiss[] = []
  readonly #tape: Tape
  readonly #content: ConstructorParameters<typeof ContentWriter>[0]

  constructor(
    tape: Tape,
    content: Pick<CaptureOptions, 'content' | 'redactText' | 'isSecretKey' | 'maxValueBytes'>,
  ) {
    this.#tape = tape
    this.#content = content
  }

  respond({ method, url, body }: TapeRequest): TapedResponse {
    const json = parseJson(Buffer.from(body).toString())
    const api = isRecord(json) ? recognizeRequest(url, json) : undefined
    if (!isRecord(json) || api === undefined) return this.#refuse(method, url)
    const request = api.readRequest(json, url)
    const found = this.#tape.takeModelCall(this.#readStep(request))
    if (isMiss(found)) return missResponse(this.#miss(found), api)
    const response = rebuildResponse(found.step, api, { url, body: json, isStream: request.isStream })
    if (response === undefined) return missResponse(this.#miss(notRebuildable(found)), api)
    this.counts.taped += 1
    return response
  }

  act({ name, arguments: given, fn }: Parameters<ActiveTape['act']>[0]): TapedResult | undefined {
    const found = this.#tape.takeAction(name, given)
    if (isMiss(found)) return { error: new TapeMissError(this.#miss(found)) }
    if (found.isContainer) return undefined
    this.counts.taped += 1
    return reviveResult(found.step, fn)
  }

  /** Only the first miss counts: what follows it is asked in a state that was never recorded. */
  #miss(miss: TapeMiss): string {
    this.misses.push(miss)
    return this.misses[0]!.sentence
  }

  #refuse(method: string, url: URL): TapedResponse {
    const what = visibleText(`${method} ${url.origin}${url.pathname}`)
    const sentence = `The run made a request that is not on the tape: ${what}. Record what makes it with recordTool.`
    return missResponse(this.#miss({ kind: 'action', sentence }), undefined)
  }

  /** Reads the request as if it had been recorded, so that both sides went through the same redaction and limits. */
  #readStep(request: ModelRequest): Pick<StepOutline, 'model' | 'requestedModel'> & StepContent {
    const attributes = emptyAttributes()
    Object.assign(attributes, requestAttributesOf(request, new ContentWriter(this.#content), true))
    const { outline, content } = spanToStep({
      traceId: '0'.repeat(32),
      spanId: '0'.repeat(16),
      parentSpanId: null,
      isParentRemote: false,
      name: 'chat',
      kind: 3,
      startNs: 0n,
      endNs: 1n,
      statusCode: 0,
      statusMessage: '',
      attributes,
      events: [],
      links: [],
      resource: emptyAttributes(),
      scope: { name: 'playhead', version: '' },
    })
    return { ...content, ...(outline.model !== undefined && { model: outline.model }) }
  }
}

function notRebuildable({ step, number }: { step: { id: string; name: string }; number: number }): TapeMiss {
  return {
    kind: 'model',
    stepId: step.id,
    step: number,
    sentence: `The answer of step ${number} ${visibleText(step.name)} was not recorded in a form that can be served.`,
  }
}
