import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lintCassette, sessionsToCassette, writeCassette, type Session, type Step } from '@playhead/model'
import { startScriptedModel, type ScriptedModel } from '@playhead/scripted-model'
import OpenAI from 'openai'
import * as playhead from 'playhead'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Random } from '../../../../bench/corpus/random.ts'
import { recordPlainTest } from '../../src/testing/runs/record-plain-test.ts'
import { keyNames, namedFamilies, namedValue, plainFamilies } from '../redaction/planted-secrets.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const random = new Random(7)
const plain = Object.entries(plainFamilies).map(([family, make]) => ({ family, ...make(random) }))
const named = [...Object.values(namedFamilies).flat(), ...keyNames].map((key) => ({
  key,
  hidden: namedValue(random),
}))
const hidden = [...plain, ...named].map((secret) => secret.hidden)
const texts = plain.map(({ text }) => `Use ${text} for it.`)
const settings = Object.fromEntries(named.map((secret) => [secret.key, secret.hidden]))

let model: ScriptedModel

beforeAll(async () => {
  playhead.init({ silent: true })
  // Header values are one line of plain letters.
  const headers = plain.filter(({ text }) => /^[ -~]+$/.test(text)).map(({ text }) => text)
  model = await startScriptedModel(({ userText }) => ({
    text: userText,
    chunks: userText.match(/[^]{1,5}/g) ?? [],
    headers: {
      'x-request-id': headers[0]!,
      'openai-organization': headers.join(' '),
      'x-ratelimit-reset-tokens': headers.join(' '),
      'set-cookie': settings.cookie!,
    },
  }))
})
afterAll(() => model.stop())

function leaks(text: string): string[] {
  return hidden.filter(
    (secret) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)),
  )
}

test('a secret of every kind in prompts, results, answers and headers is in no cassette', async () => {
  vi.stubEnv('PLAYHEAD_CASSETTE', 'record')
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const folder = await temporaryFolder()
  const cassette = { settings: {}, title: 'secrets', testFile: join(folder, 'a.test.ts') }
  const look = playhead.recordTool('look', (given: object) => ({ ...given, notes: texts }))
  const read = playhead.recordTool('read', async function* () {
    for (const text of texts) yield* text.match(/[^]{1,7}/g) ?? []
    await Promise.resolve()
  })
  const fail = playhead.recordTool('fail', () => {
    throw Object.assign(new Error(texts.join('\n')), { details: settings, cause: new Error(texts[0]) })
  })
  await recordPlainTest({ name: 'secrets', attempt: 1, cassette }, async () => {
    const client = new OpenAI({
      apiKey: plain[0]!.hidden,
      baseURL: `${model.url}/v1`,
      defaultHeaders: { 'x-key': plain[1]!.hidden },
    })
    for (const stream of [false, true])
      for (const content of texts) {
        const answer = await client.chat.completions.create({
          model: 'gpt-4o',
          messages: [
            { role: 'system', content: `Settings: ${JSON.stringify(settings)}` },
            { role: 'user', content },
          ],
          stream,
        })
        if (stream) for await (const chunk of answer as AsyncIterable<unknown>) void chunk
      }
    look({ ...settings, texts })
    for await (const piece of read()) void piece
    expect(fail).toThrow(texts[0])
  })
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  const text = await readFile(join(folder, '__cassettes__/a.test.ts/secrets.jsonl'), 'utf8')
  expect(text.split('\n').filter((line) => line.includes('"kind":"model"'))).toHaveLength(2 * texts.length)
  expect(text).toContain('[redacted]')
  expect(leaks(text)).toEqual([])
  // Nor is one cut into the events of a stream, or into pieces.
  expect(leaks(joinPieces(text))).toEqual([])
  expect(lintCassette(text, { nowMs: Date.now(), maxAgeMs: Infinity })).toEqual([])
})

/** The visible text of all streams and generators in a cassette. */
function joinPieces(text: string): string {
  const contents = [...text.matchAll(/\\"content\\":\\"(.*?)\\"[,}]/g)].map(([, content]) => content)
  const pieces = [...text.matchAll(/"result":\[(".*?")\]/g)].flatMap(
    ([, list]) => JSON.parse(`[${list}]`) as string[],
  )
  return [...contents, ...pieces].join('')
}

test('nor in one that is made of a session of another instrumentation, which masked nothing', () => {
  const base = { parentId: null, status: 'ok', hasPayload: true, cost: null, dialect: 'other' } as const
  const time = { startedAt: '2026-11-16T09:00:00.000Z', endedAt: null, offsetMs: 0, durationMs: 1 }
  const steps: Step[] = [
    {
      ...base,
      ...time,
      id: '1',
      kind: 'llm',
      name: 'chat',
      messages: [
        { role: 'user', parts: [{ type: 'text', text: texts.join('\n') }] },
        { role: 'tool', parts: [{ type: 'tool-result', id: 'a', result: settings }] },
        { role: 'assistant', isOutput: true, parts: [{ type: 'text', text: texts.join('\n') }] },
      ],
      streaming: {
        chunks: texts
          .join('\n')
          .match(/[^]{1,5}/g)!
          .map((text, index) => [index, text]),
      },
    },
    {
      ...base,
      ...time,
      id: '2',
      kind: 'action',
      name: 'look',
      dialect: 'playhead',
      tool: { name: 'look', arguments: settings },
      attributes: { 'playhead.action.result': JSON.stringify({ settings, texts }) },
    },
  ]
  const session: Session = { session: { id: 'a'.repeat(32) } as Session['session'], steps }
  const meta = { name: 'x', input: { settings, texts }, recordedAt: time.startedAt, playhead: '0.1.0' }
  const text = writeCassette(sessionsToCassette([session], meta))
  expect(leaks(text)).toEqual([])
  expect(leaks(joinPieces(text))).toEqual([])
})
