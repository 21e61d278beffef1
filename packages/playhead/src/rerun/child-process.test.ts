import { expect, test } from 'vitest'
import { nodeConditions } from './child-process.ts'

test('programs run from source however this process was started', () => {
  const given = process.execArgv
  try {
    for (const execArgv of [[], ['--conditions=playhead-source'], ['--no-warnings']]) {
      process.execArgv = execArgv
      expect(nodeConditions()).toEqual(['--conditions=playhead-source'])
    }
    process.execArgv = ['--conditions=browser', '-C=worker']
    expect(nodeConditions()).toEqual(['--conditions=browser', '-C=worker', '--conditions=playhead-source'])
  } finally {
    process.execArgv = given
  }
})
