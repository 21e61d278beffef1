import { expect, test } from 'vitest'
import { listRows, reveal, type Folding } from './step-rows.ts'
import { findSteps } from './step-search.ts'
import { makeTimeline } from '../../../test/make-session.ts'

const nothing: Folding = { folded: new Set(), openRepeats: new Set() }

const timeline = makeTimeline([
  { id: 'root', kind: 'agent', name: 'coder', offsetMs: 0, durationMs: 100 },
  { id: 'ask', parentId: 'root', kind: 'llm', name: 'chat', offsetMs: 1, outputPreview: 'I read the files' },
  ...Array.from({ length: 4 }, (_, index) => ({
    id: `read-${index}`,
    parentId: 'root',
    name: 'read_file',
    offsetMs: 10 + index,
    inputPreview: `path=src/${index}.ts`,
  })),
  { id: 'write', parentId: 'root', name: 'write_file', offsetMs: 20 },
  { id: 'format', parentId: 'write', name: 'format', offsetMs: 21 },
])

function names(folding: Folding, shown: Uint8Array | null = null): string[] {
  return listRows(timeline, folding, { shown }).rows.map(
    ({ type, position, depth, members }) =>
      `${'  '.repeat(depth)}${timeline.steps[position]!.id}${type === 'repeat' ? ` ×${members!.length}` : ''}`,
  )
}

test('repeats are folded into one row', () => {
  expect(names(nothing)).toEqual(['root', '  ask', '  read-0 ×4', '  write', '    format'])
})

test('repeats unfold, and a folded step hides its children', () => {
  expect(names({ folded: new Set(['write']), openRepeats: new Set(['read-0']) })).toEqual([
    'root',
    '  ask',
    '  read-0 ×4',
    '    read-0',
    '    read-1',
    '    read-2',
    '    read-3',
    '  write',
  ])
})

test('every step knows the row that shows it', () => {
  const { rowOf, rows } = listRows(
    timeline,
    { folded: new Set(['write']), openRepeats: new Set() },
    { shown: null },
  )
  const rowNamed = (id: string) => rows[rowOf[timeline.positionOf.get(id)!]!]
  expect(rowNamed('read-3')).toMatchObject({ type: 'repeat' })
  expect(timeline.steps[rowNamed('format')!.position]!.id).toBe('write')
})

test('revealing a step unfolds only what hides it', () => {
  const folded: Folding = { folded: new Set(['root', 'write']), openRepeats: new Set() }
  expect(reveal(timeline, folded, 'read-2')).toEqual({
    folded: new Set(['write']),
    openRepeats: new Set(['read-0']),
  })
  expect(reveal(timeline, folded, 'format')).toEqual({ folded: new Set(), openRepeats: new Set() })
})

test('model calls of a short session are never folded', () => {
  const calls = makeTimeline(
    Array.from({ length: 5 }, (_, index) => ({
      id: String(index),
      kind: 'llm' as const,
      name: 'gpt',
      offsetMs: index,
    })),
  )
  expect(listRows(calls, nothing, { shown: null }).rows).toHaveLength(5)
})

test('a search keeps the ancestors of its matches and counts the hidden steps', () => {
  const found = findSteps(timeline, { text: 'SRC/2', kinds: new Set() })!
  expect(found.matchCount).toBe(1)
  expect(names(nothing, found.shown)).toEqual(['root', '  read-2'])
  expect(listRows(timeline, nothing, { shown: found.shown }).hiddenCount).toBe(timeline.steps.length - 2)
})

test('text and kinds combine, and an empty query matches nothing', () => {
  expect(findSteps(timeline, { text: 'file', kinds: new Set(['llm']) })!.matchCount).toBe(1)
  expect(findSteps(timeline, { text: '', kinds: new Set(['action']) })!.matchCount).toBe(6)
  expect(findSteps(timeline, { text: ' ', kinds: new Set() })).toBeNull()
  expect(findSteps(timeline, { text: '.*', kinds: new Set() })!.matchCount).toBe(0)
})

test('loaded payloads are searched at any depth', () => {
  const deep = { a: [{ b: { needle: 'in the hay' } }] }
  const found = findSteps(timeline, { text: 'the HAY', kinds: new Set() }, (step) =>
    step.id === 'format' ? { ...step, hasPayload: true, output: deep } : step,
  )!
  expect(found.matchCount).toBe(1)
  expect(found.matches[timeline.positionOf.get('format')!]).toBe(1)
})
