import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { findNodeProblem } from './node-version.ts'

test.each(['18.20.8', '20.20.2', '22.14.0'])('Node %s is too old', (node) => {
  const needed = manifest.engines.node.replace('>=', '')
  expect(findNodeProblem({ node })).toBe(`needs Node ${needed} or newer; this is ${node}`)
})

test.each(['22.15.0', '23.0.0', '24.21.0'])('Node %s is new enough', (node) => {
  expect(findNodeProblem({ node })).toBeUndefined()
})

test('other runtimes are not judged by the version that they imitate', () => {
  expect(findNodeProblem({ node: '22.6.0', bun: '1.2.0' })).toBeUndefined()
  expect(findNodeProblem({ node: '20.11.1', deno: '2.0.0' })).toBeUndefined()
})
