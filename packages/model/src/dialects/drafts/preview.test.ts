import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  oneLine,
  previewJson,
  previewOfArguments,
  previewOfQuestion,
  previewOfUser,
  previewOfValue,
} from './preview.ts'

test('a preview is one line of at most 200 characters with collapsed white space', () => {
  expect(oneLine('  a\n\n b\t c  ')).toBe('a b c')
  expect(oneLine(' \n ')).toBeUndefined()
  expect(oneLine('x'.repeat(300))).toBe(`${'x'.repeat(199)}…`)
  expect(oneLine(`${' '.repeat(1000)}late`)).toBe('late')
})

/** What `oneLine` has to return, without its short cuts. */
function foldWhole(text: string): string | undefined {
  const fold = (look: number) => {
    const start = text.slice(0, look)
    return (/[\n\t\r]| {2}/.test(start) ? start.replaceAll(/\s+/g, ' ') : start).trim()
  }
  const folded = fold(260).length > 200 ? fold(260) : fold(4000)
  return folded.length > 200
    ? `${folded.slice(0, 199).replace(/[\ud800-\udbff]$/, '')}…`
    : folded || undefined
}

test('a preview is the same however it is found', () => {
  const piece = fc.constantFrom(
    'a',
    ' ',
    '  ',
    '\n',
    '\u00a0',
    '\u2003',
    '\ufeff',
    '\u0001',
    'é',
    '…',
    '😀',
    'x'.repeat(40),
  )
  const texts = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
  const long = fc.tuple(texts, fc.integer({ min: 0, max: 280 }), texts)

  fc.assert(
    fc.property(texts, (text) => {
      expect(oneLine(text)).toBe(foldWhole(text))
    }),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(long, ([start, length, end]) => {
      const text = start + 'word '.repeat(60).slice(0, length) + end
      expect(oneLine(text)).toBe(foldWhole(text))
    }),
    { numRuns: 2_000 },
  )
})

test('a preview never ends in half a character', () => {
  expect(oneLine('😀'.repeat(200))?.at(-2)).toBe('\ude00')
})

test('arguments are previewed by name, a single unnamed one as JSON', () => {
  expect(previewOfArguments({ city: 'Paris', days: 3, deep: { a: [1] }, none: null })).toBe(
    'city=Paris, days=3, deep={"a":[1]}, none=null',
  )
  expect(previewOfArguments('billing_dispute')).toBe('"billing_dispute"')
  expect(previewOfArguments(5)).toBe('5')
  expect(previewOfArguments({})).toBeUndefined()
})

test('the preview of a conversation is its last message, of any other value its text or JSON', () => {
  expect(
    previewOfValue({
      messages: [
        { role: 'user', content: 'first' },
        { role: 'assistant', content: 'last' },
      ],
    }),
  ).toBe('last')
  expect(previewOfValue({ text: 'the answer', files: [] })).toBe('the answer')
  expect(previewOfValue({ goal: 'weather' })).toBe('{"goal":"weather"}')
  expect(previewOfValue({})).toBeUndefined()
})

test('JSON in a preview stops at the maximum length', () => {
  const endless = Array.from({ length: 100_000 }, (_, index) => index)

  expect(previewJson(endless).length).toBeLessThan(220)
})

test('the preview of an input is the question inside it', () => {
  expect(previewOfQuestion({ task: 'Weather in Paris?', stream: false, max_steps: null })).toBe(
    'Weather in Paris?',
  )
  expect(previewOfQuestion({ q: 'Weather in Paris?' })).toBe('Weather in Paris?')
  expect(previewOfQuestion({ q: 'Weather in Paris?', mode: 'loop', system_prompt: 'You are kind.' })).toBe(
    'Weather in Paris?',
  )
  expect(previewOfQuestion([{ description: 'Weather in Paris?', expected_output: 'A sentence.' }])).toBe(
    'Weather in Paris?',
  )
  expect(previewOfQuestion({ city: 'Paris' })).toBe('{"city":"Paris"}')
  expect(previewOfQuestion({ from: 'New York', to: 'Los Angeles' })).toBe(
    '{"from":"New York","to":"Los Angeles"}',
  )
})

test('a question of one word is the preview, not the sentences beside it', () => {
  expect(previewOfQuestion({ question: 'Weather?', style: 'short and friendly' })).toBe('Weather?')
})

test('what the user said is remembered once a tool has answered', () => {
  const user = { role: 'user', parts: [{ type: 'text' as const, text: 'Weather?' }] }
  const tool = { role: 'tool', parts: [{ type: 'tool-result' as const, result: 'sunny' }] }

  expect(previewOfUser([user, { role: 'assistant', parts: [] }, tool])).toBe('Weather?')
  expect(previewOfUser([user])).toBeUndefined()
})

test("the question is the user's message among the settings of a run", () => {
  const run = { user_id: 'u_7', new_message: { parts: [{ text: 'Hello?' }], role: 'user' }, run_config: {} }
  expect(previewOfQuestion(run)).toBe('Hello?')
})
