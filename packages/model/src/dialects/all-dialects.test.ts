import { expect, test } from 'vitest'
import { importDialectFiles } from '../../test/dialect-files.ts'
import { makeSpan } from '../../test/make-span.ts'
import { allDialects } from './all-dialects.ts'
import { createSpanToStep, spanToStep } from './drafts/span-to-step.ts'
import type { Dialect } from './reading/dialect.ts'
import { DialectSet } from './reading/dialect-set.ts'
import { kindOfWord } from './reading/kind-words.ts'
import { otelGenAi } from './otel-genai.ts'

const sample: Dialect = {
  name: 'sample',
  signs: ['sample.'],
  texts: { toolName: ['sample.tool'], statedKind: ['sample.what'] },
  values: { toolArguments: ['sample.given'] },
  kind: ({ fields }) => kindOfWord(new Map([['job', 'action' as const]]), fields.statedKind),
}
const withSample = (dialect: Dialect) =>
  createSpanToStep(new DialectSet([{ dialect: otelGenAi, label: 99 }, { dialect }]))
const span = makeSpan({
  name: 'run job',
  attributes: {
    'sample.what': 'job',
    'sample.tool': 'send_mail',
    'sample.given': '{"to":"a@example.com"}',
    'gen_ai.request.model': 'gpt-4o',
  },
})

test('a dialect is one object in the list: its keys, its kinds and its label are used', () => {
  const { outline, content, failures } = withSample(sample)(span)

  expect(outline).toMatchObject({
    kind: 'action',
    name: 'send_mail',
    dialect: 'sample',
    toolName: 'send_mail',
  })
  expect(content.tool).toEqual({ name: 'send_mail', arguments: { to: 'a@example.com' } })
  expect(failures).toBeUndefined()
  expect(spanToStep(span).outline).toMatchObject({ kind: 'llm', dialect: 'otel-genai' })
})

test('every file of the folder exports one dialect, which is in the list', async () => {
  const listed = new Set<unknown>(allDialects.all.map(({ dialect }) => dialect))
  const files = await importDialectFiles()
  for (const [file, exported] of files)
    expect({ file, dialects: exported.filter((value) => listed.has(value)).length }).toEqual({
      file,
      dialects: 1,
    })
  expect(files.size).toBe(listed.size)
})

test('a dialect that throws is reported, and the step is read by the others', () => {
  const broken: Dialect = {
    ...sample,
    kind: () => {
      throw new TypeError('kind is broken')
    },
    inputMessages: () => {
      throw new TypeError('messages are broken')
    },
  }
  const { outline, failures } = withSample(broken)(span)

  expect(outline).toMatchObject({ kind: 'llm', model: 'gpt-4o', dialect: 'sample' })
  expect(failures).toEqual([
    { dialect: 'sample', message: 'TypeError: kind is broken' },
    { dialect: 'sample', message: 'TypeError: messages are broken' },
  ])
})

test('a failure outside the dialects leaves a plain step with its attributes', () => {
  const broken: Dialect = {
    ...sample,
    excludesCache: () => {
      throw new RangeError('too deep')
    },
  }
  const counted = { ...span, attributes: { ...span.attributes, 'gen_ai.usage.input_tokens': 3 } }
  const { outline, content, failures } = withSample(broken)(counted)

  expect(outline).toMatchObject({ kind: 'other', name: 'run job' })
  expect(content.attributes).toBe(counted.attributes)
  expect(failures).toEqual([{ dialect: 'sample', message: 'RangeError: too deep' }])
})
