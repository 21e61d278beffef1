import { expect, test } from 'vitest'
import { softErrorOf } from './soft-error.ts'

test.each([
  [
    { isError: true, content: [{ type: 'text', text: 'no such file' }] },
    { type: 'ToolError', message: 'no such file' },
  ],
  [
    { is_error: true, content: 'nope' },
    { type: 'ToolError', message: 'nope' },
  ],
  [
    { success: false, message: 'declined' },
    { type: 'ToolError', message: 'declined' },
  ],
  [
    { ok: false, error: 'timeout' },
    { type: 'ToolError', message: 'timeout' },
  ],
  [
    { status: 'error', error_message: 'no such city' },
    { type: 'ToolError', message: 'no such city' },
  ],
  [
    { status: 'ERROR', message: 'no such city' },
    { type: 'ToolError', message: 'no such city' },
  ],
  [{ error: { code: 'E404', message: 'not found' } }, { type: 'E404', message: 'not found' }],
  [{ error: { reason: 'x' } }, { type: 'ToolError', message: '{"reason":"x"}' }],
  [
    { exitCode: 1, stdout: '', stderr: 'boom\nat line 3' },
    { type: 'ExitCode', message: 'boom' },
  ],
  [
    { exit_code: 2, stdout: '' },
    { type: 'ExitCode', message: 'exit code 2' },
  ],
  [
    { code: '127', stderr: 'not found' },
    { type: 'ExitCode', message: 'not found' },
  ],
])('a result like %j says that the action failed', (result, error) => {
  expect(softErrorOf(result)).toEqual(error)
})

test.each([
  [{ error: null }],
  [{ error: '' }],
  [{ error: false, data: 1 }],
  [{ success: true }],
  [{ status: 'failed', order: 7 }],
  [{ code: 200 }],
  [{ exitCode: 0, stdout: 'ok' }],
  ['Error: just text'],
  [null],
  [undefined],
  [[{ error: 'in a list' }]],
])('a result like %j does not', (result) => {
  expect(softErrorOf(result)).toBeUndefined()
})
