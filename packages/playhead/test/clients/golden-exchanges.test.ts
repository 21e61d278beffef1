import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { play, useRecorder } from './play-exchange.ts'

useRecorder()

type Exchange = {
  name: string
  url: string
  request: object
  status?: number
  response?: object
  events?: object[]
  expected: { request: { messages: object[] }; response: { messages: object[] }; text?: string }
}

const folder = join(import.meta.dirname, '../../../../fixtures/providers')

describe.each(readdirSync(folder))('%s', (file) => {
  const exchanges = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Exchange[]
  const successful = exchanges.filter(({ status }) => status === undefined)

  test.each(successful)('$name', ({ url, request, response, events, expected }) => {
    const isLines = file === 'ollama.json'
    const lines = events?.map((event) => `${JSON.stringify(event)}\n`).join('')
    const streamed = isLines ? { response: lines!, type: 'application/x-ndjson' } : { response: events! }
    for (const chunkBytes of [1, 7, 1024]) {
      const exchange = events === undefined ? { response: response! } : streamed
      const { attributes } = play({ url, request, chunkBytes, ...exchange }).content
      expect(messagesIn(attributes['gen_ai.input.messages'])).toEqual(expected.request.messages)
      expect(messagesIn(attributes['gen_ai.output.messages'])).toEqual(expected.response.messages)
      expect(textIn(attributes['playhead.stream.chunks'])).toEqual(expected.text ?? '')
    }
  })
})

function messagesIn(attribute: unknown): unknown {
  return attribute === undefined ? [] : JSON.parse(String(attribute))
}

function textIn(chunks: unknown): string {
  const list = messagesIn(chunks) as [number, string][]
  return list.map(([, text]) => text).join('')
}
