import { describe, expect, test } from 'vitest'
import { makeStep } from '../../test/make-session.ts'
import { editModesOf, readEdit } from './fork-edit.ts'

const action = makeStep({
  id: 'fetch',
  hasPayload: true,
  tool: { name: 'fetch', arguments: { id: 'c_1' }, result: { plan: 'Pro' } },
})

describe('an action', () => {
  test('offers its result, then its arguments', () => {
    expect(
      editModesOf(action).map(({ label, fields }) => [label, fields.map(({ recorded }) => recorded)]),
    ).toEqual([
      ['Result', ['{\n  "plan": "Pro"\n}']],
      ['Arguments', ['{\n  "id": "c_1"\n}']],
    ])
  })

  test('that failed because of an argument offers the arguments first, and an empty result', () => {
    const failed = makeStep({
      ...action,
      tool: { name: 'fetch', arguments: { id: null } },
      status: 'error',
      error: { type: 'ValueError', message: 'id cannot be null' },
    })
    expect(editModesOf(failed).map(({ label, fields }) => [label, fields[0]!.recorded])).toEqual([
      ['Arguments', '{\n  "id": null\n}'],
      ['Result', ''],
    ])
  })

  test('that returned nothing has null or nothing as its result', () => {
    const returned = (tool: object) =>
      editModesOf(makeStep({ ...action, tool: { name: 'fetch', ...tool } }))[0]!.fields[0]!.recorded
    expect([returned({ result: null }), returned({})]).toEqual(['null', ''])
  })
})

describe('a model call', () => {
  const said = (role: string, text: string) => ({ role, parts: [{ type: 'text' as const, text }] })
  const call = makeStep({
    id: 'call',
    kind: 'llm',
    hasPayload: true,
    model: 'gpt-4o-2026',
    requestedModel: 'gpt-4o',
    messages: [
      said('system', 'Be brief.'),
      said('user', 'Hi'),
      { ...said('assistant', 'Hello'), isOutput: true },
    ],
  })

  test('offers what it was asked, and its answer as text', () => {
    const [question, answer] = editModesOf(call)
    expect(question!.fields.map(({ name, recorded, isText }) => [name, recorded, isText])).toEqual([
      ['prompt', 'Hi', true],
      ['system', 'Be brief.', true],
      ['model', 'gpt-4o', true],
    ])
    expect(answer!.fields.map(({ name, recorded, isText }) => [name, recorded, isText])).toEqual([
      ['result', 'Hello', true],
    ])
  })

  test('that called tools offers them as JSON', () => {
    const parts = [{ type: 'tool-call' as const, name: 'search', arguments: '{"q":"x"}' }]
    const asking = { ...call, messages: [{ role: 'assistant', parts, isOutput: true }] }
    const { recorded } = editModesOf(asking)[1]!.fields[0]!
    expect(JSON.parse(recorded)).toEqual({
      text: '',
      toolCalls: [{ name: 'search', arguments: { q: 'x' } }],
    })
  })

  test('is changed only where it was edited', () => {
    const [question] = editModesOf(call)
    expect(readEdit(question!, { system: 'Be kind.', prompt: 'Hi' })).toEqual({
      edit: { system: 'Be kind.' },
      problems: {},
    })
    expect(readEdit(question!, {})).toEqual({ edit: undefined, problems: {} })
  })
})

describe('JSON that is none is explained', () => {
  const problemOf = (text: string) => readEdit(editModesOf(action)[0]!, { result: text }).problems.result

  test.each([
    ['', 'Enter a JSON value, for example "c_42" or {"id": 42}.'],
    ['c_42', 'Text needs quotes: "c_42".'],
    ['{"id": 42', 'This is not JSON: it ends too early at line 1, column 10.'],
    ['{\n  "id": 42,\n}', 'This is not JSON: "}" is not expected at line 3, column 1.'],
    ['{"id": c_42}', 'This is not JSON: "c" is not expected.'],
    ['"c_42', 'This is not JSON: it ends too early at line 1, column 6.'],
    ['42 43', 'This is not JSON: "4" is not expected at line 1, column 4.'],
  ])('%s', (text, sentence) => expect(problemOf(text)).toBe(sentence))

  test('valid values have no problem', () => {
    expect(['"c_42"', 'null', ' [1] ', '{"plan":"Team"}'].map(problemOf)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})
