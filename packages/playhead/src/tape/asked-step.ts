import {
  emptyAttributes,
  spanToStep,
  type ModelRequest,
  type StepContent,
  type StepOutline,
} from '@playhead/model'
import type { CaptureOptions } from '../capture/calls/active-capture.ts'
import { requestAttributesOf } from '../capture/calls/call-span.ts'
import { ContentWriter } from '../capture/calls/content-writer.ts'
import type { Recorder } from '../record/session/recorder.ts'

export type ContentOptions = Pick<CaptureOptions, 'content' | 'redactText' | 'isSecretKey' | 'maxValueBytes'>

/** Reads a request as if it had been recorded, so that both sides went through the same redaction and limits. */
export function readAskedStep(
  request: ModelRequest,
  options: ContentOptions,
): Pick<StepOutline, 'model' | 'requestedModel'> & StepContent {
  const attributes = emptyAttributes()
  Object.assign(attributes, requestAttributesOf(request, new ContentWriter(options), true))
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

/** What the recorder does to recorded content. Read with every request, because the agent may call `init` at any time. */
export function contentOptionsOf(recorder: Recorder): ContentOptions {
  return {
    get content() {
      return recorder.serializeOptions.isContentKept
    },
    get maxValueBytes() {
      return recorder.serializeOptions.maxLength
    },
    redactText: (text) => recorder.redactor.text(text, 'text'),
    isSecretKey: (key) => recorder.redactor.isSecretKey(key),
  }
}
