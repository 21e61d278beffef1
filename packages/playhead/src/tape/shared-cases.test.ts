import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRedactor, isMiss, parseJson, readCassette, Tape, type JsonObject } from '@playhead/model'
import { describe, expect, test } from 'vitest'
import { recognizeRequest } from '../capture/calls/recognize-request.ts'
import { readAskedStep } from './asked-step.ts'

// Python's tests read the same cases.
const fixtures = join(import.meta.dirname, '../../../../fixtures')

type ProviderCase = { name: string; url: string; request: JsonObject }

const providers = ['anthropic', 'openai-chat', 'openai-completions', 'openai-embeddings', 'openai-responses']

test('what each golden request asks', async () => {
  const meanings = providers.flatMap((provider) =>
    (readJson(`providers/${provider}.json`) as ProviderCase[]).map(({ name, url, request }) => ({
      provider,
      name,
      meaning: meaningOf(request, url),
    })),
  )
  await expect(`${JSON.stringify(meanings, null, 1)}\n`).toMatchFileSnapshot(
    join(fixtures, 'tape/meanings.json'),
  )
})

function meaningOf(request: JsonObject, address: string): unknown {
  const url = new URL(address)
  const api = recognizeRequest(url, request)
  if (api === undefined) return null
  const redactor = createRedactor()
  const content = {
    content: true,
    maxValueBytes: 1024 * 1024,
    redactText: (text: string) => redactor.text(text, 'text'),
    isSecretKey: (key: string) => redactor.isSecretKey(key),
  }
  const {
    toolDefinitions: tools,
    messages = [],
    ...asked
  } = readAskedStep(api.readRequest(request, url), content)
  const entry = {
    kind: 'model' as const,
    api: '',
    path: '',
    asked: { ...asked, ...(tools !== undefined && { tools }), messages },
    answer,
  }
  const [read] = new Tape([{ meta, entries: [entry] }]).entries
  return read?.kind === 'model' ? read.asked : undefined
}

const meta = { name: '', recordedAt: '', playhead: '', sessions: [] }
const answer = { error: { code: '', message: '' } }

type Ask = { model: JsonObject } | { action: string; arguments?: unknown }
type MatchingCase = {
  name: string
  cassette: JsonObject[]
  volatile?: string[]
  /** `served` is the number of the entry; a miss lists what it names. */
  asks: (Ask & { served?: number; miss?: JsonObject })[]
  mapped?: JsonObject
}

describe('matching', () => {
  test.each(readJson('tape/matching.json') as MatchingCase[])(
    '$name',
    ({ cassette, volatile = [], asks, mapped }) => {
      const tape = new Tape([readCassette(cassette.map((line) => JSON.stringify(line)).join('\n'))], {
        volatile: volatile.map((pattern) => new RegExp(pattern)),
      })
      const outcomes = asks.map((ask) => {
        const found =
          'model' in ask ? tape.takeModelCall(ask.model) : tape.takeAction(ask.action, ask.arguments)
        if (!isMiss(found)) return { served: found.number }
        const { step, message, field, sentence } = found
        return { miss: { step, message, field, sentence } }
      })
      expect(outcomes).toEqual(asks.map(({ served, miss }) => (miss === undefined ? { served } : { miss })))
      if (mapped !== undefined) expect(tape.mapped).toEqual(mapped)
    },
  )
})

function readJson(file: string): unknown {
  return parseJson(readFileSync(join(fixtures, file), 'utf8'))
}
