import { expect, test } from 'vitest'
import { wilson, type DecisionGraph, type GraphFailure, type GraphNode } from '@playhead/model'
import { failsMore, visibleGraph } from './visible-graph.ts'

const failure = (failed: number, ended: number): GraphFailure => ({
  failed,
  ended,
  rate: ended === 0 ? null : failed / ended,
  interval: wilson(failed, ended),
})

const node = (id: string): GraphNode => ({
  id,
  kind: id === 'start' ? 'start' : id.startsWith('end ') ? 'end' : 'action',
  name: id,
  sessions: 1,
  times: 1,
  errors: 0,
  isWrite: false,
  p90Ms: null,
  cost: null,
  failure: failure(0, 1),
})

const edge = (from: string, to: string) => ({ from, to, sessions: 1, cost: null, failure: failure(0, 1) })

const graph: DecisionGraph = {
  sessions: 10,
  failure: failure(1, 10),
  isPartial: false,
  nodes: ['start', 'a', 'b', 'c', 'end success', 'end fail'].map(node),
  edges: [
    edge('start', 'a'),
    edge('a', 'b'),
    edge('a', 'c'),
    edge('b', 'end success'),
    edge('c', 'end fail'),
  ],
  variants: [
    {
      id: '#1',
      path: ['a', 'b'],
      sessions: 9,
      failure: failure(0, 9),
      cost: null,
      examples: { passed: [], failed: [], last: '' },
    },
    {
      id: '#2',
      path: ['a', 'c'],
      sessions: 1,
      failure: failure(1, 1),
      cost: null,
      examples: { passed: [], failed: [], last: '' },
    },
  ],
  variantCount: 2,
}

test('less detail keeps the most common paths, from start to end', () => {
  const { nodes, edges, shownVariants } = visibleGraph(graph, 80)
  expect(nodes.map(({ id }) => id)).toEqual(['start', 'a', 'b', 'end success'])
  expect(edges.map(({ from, to }) => `${from} ${to}`)).toEqual(['start a', 'a b', 'b end success'])
  expect(shownVariants).toBe(1)
  expect(visibleGraph(graph, 100).edges).toHaveLength(5)
})

test('a few failures are not significant', () => {
  expect(failsMore(failure(2, 2), failure(2, 6))).toBe(false)
  expect(failsMore(failure(4, 4), failure(4, 12))).toBe(true)
  expect(failsMore(failure(90, 100), failure(300, 1000))).toBe(true)
  expect(failsMore(failure(30, 100), failure(300, 1000))).toBe(false)
  expect(failsMore(failure(0, 50), failure(3, 60))).toBe(false)
})
