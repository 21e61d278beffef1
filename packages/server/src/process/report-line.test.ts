import { expect, test } from 'vitest'
import { toReportLine } from './report-line.ts'

test('untrusted text stays on its line and sends no control codes to the terminal', () => {
  expect(toReportLine('GET /a\r\nplayhead: all is well \u001b[2J\u009b2J\u202e')).toBe(
    'GET /a\\u000d\n    playhead: all is well \\u001b[2J\\u009b2J\\u202e',
  )
})

test('untrusted text is no command to a build service', () => {
  expect(toReportLine('failed\n  ::error::x\nsee ##[warning]y and ##vso[task.complete]z')).toBe(
    'failed\n      \\::error::x\n    see #\\#[warning]y and #\\#vso[task.complete]z',
  )
})

test('a stack keeps its lines', () => {
  expect(toReportLine('Error: no\n    at one\tand\n    at two')).toBe(
    'Error: no\n        at one\tand\n        at two',
  )
})
