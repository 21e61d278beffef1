import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { findNodeProblem } from './find-node-problem.ts'

test.each(['20.20.2', '22.14.0'])('Node %s is refused with the version that is needed', (version) => {
  const needed = manifest.engines.node.replace('>=', '')
  expect(findNodeProblem(version)).toBe(`The server needs Node ${needed} or newer; this is ${version}.`)
})

test.each(['22.15.0', '22.20.1', '24.0.0'])('Node %s is accepted', (version) => {
  expect(findNodeProblem(version)).toBeUndefined()
})
