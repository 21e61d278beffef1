import { afterEach, beforeEach } from 'vitest'
import { activeCapture } from '../../src/capture/calls/active-capture.ts'
import { ObservedCall } from '../../src/capture/calls/observed-call.ts'
import { startRecorder, type Recorder } from './recorder.ts'

let recorder: Recorder

/** Gives each test of the file its own recorder. */
export function useRecorder(): void {
  beforeEach(() => {
    recorder = startRecorder()
  })
  afterEach(() => recorder.uninstall())
}

type Exchange = {
  url: string
  request: object
  type?: string
  response: string | object | Uint8Array | object[]
  /** How many bytes of the response arrive at once. */
  chunkBytes?: number
}

/** Feeds a request and its response to a call, as a hook would, without a network. */
export function play({ url, request, type, response, chunkBytes = 50 }: Exchange) {
  const call = new ObservedCall(activeCapture()!, new URL(url), () => undefined)
  call.addRequestChunk(JSON.stringify(request))
  call.identify()
  const isEvents = Array.isArray(response)
  const text = isEvents ? response.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') : response
  const bytes =
    text instanceof Uint8Array
      ? text
      : new TextEncoder().encode(typeof text === 'string' ? text : JSON.stringify(text))
  const contentType = type ?? (isEvents ? 'text/event-stream' : 'application/json')
  call.responseStarted(200, (name) => (name === 'content-type' ? contentType : undefined))
  for (let start = 0; start < bytes.length; start += chunkBytes)
    call.addResponseChunk(bytes.subarray(start, start + chunkBytes))
  call.responseEnded()
  const recorded = recorder.call()
  recorder.reset()
  return { ...recorded, answer: recorded.content.messages?.filter(({ isOutput }) => isOutput)[0]?.parts }
}

export const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
