import fc from 'fast-check'
import { expect, test } from 'vitest'
import { layoutGraph, type LayoutInput } from './layout-graph.ts'

const node = (id: string) => ({ id, width: 160, height: 48 })
const edge = (from: string, to: string, weight = 1) => ({ from, to, weight })

test('successors are below, and end states are at the bottom', () => {
  const { nodes } = layoutGraph({
    nodes: ['start', 'a', 'b', 'c', 'end fail', 'end success'].map(node),
    edges: [
      edge('start', 'a', 9),
      edge('a', 'b', 8),
      edge('b', 'c', 8),
      edge('a', 'end fail'),
      edge('c', 'end success', 8),
      edge('c', 'b', 2),
    ],
  })
  const ys = ['start', 'a', 'b', 'c', 'end success'].map((id) => nodes[id]!.y)
  expect(ys).toEqual(ys.toSorted((one, other) => one - other))
  expect(nodes['end fail']!.y).toBe(nodes['end success']!.y)
})

test('a long edge bends around the nodes of the layers between', () => {
  const { edges } = layoutGraph({
    nodes: ['start', 'a', 'b', 'end success'].map(node),
    edges: [
      edge('start', 'a', 5),
      edge('a', 'b', 5),
      edge('b', 'end success', 5),
      edge('start', 'end success'),
    ],
  })
  expect(edges.at(-1)!.points).toHaveLength(4)
})

test('nodes never overlap, and every edge meets its nodes', () => {
  const graph = fc
    .tuple(fc.integer({ min: 1, max: 12 }), fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 40 }))
    .map(([count, pairs]): LayoutInput => {
      const ids = Array.from({ length: count }, (_, index) => `n${index}`)
      const edges = pairs
        .filter(([from, to]) => from < count && to < count)
        .map(([from, to]) => edge(ids[from]!, ids[to]!))
      return { nodes: ids.map(node), edges }
    })
  fc.assert(
    fc.property(graph, (input) => {
      const { nodes, edges, width, height } = layoutGraph(input)
      const places = Object.values(nodes)
      expect(places).toHaveLength(input.nodes.length)
      for (const [index, one] of places.entries()) {
        expect(one.x >= 80 && one.x <= width - 80 && one.y >= 24 && one.y <= height - 24).toBe(true)
        for (const other of places.slice(index + 1))
          expect(Math.abs(one.x - other.x) >= 160 || Math.abs(one.y - other.y) >= 48).toBe(true)
      }
      for (const { from, to, points } of edges)
        expect([points[0], points.at(-1)]).toEqual([nodes[from], nodes[to]])
    }),
    { numRuns: 200 },
  )
})
