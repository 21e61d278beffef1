import { expect, test } from 'vitest'
import { parsePrintedFields, parsePythonRepr } from './python-repr.ts'

test.each([
  [
    `{'city': 'Paris', 'days': 2, 'ok': True, 'note': None}`,
    { city: 'Paris', days: 2, ok: true, note: null },
  ],
  [
    `["it's", 'a "word"', 'two\\nlines', '\\xe9', -1.5e3, (1, 2), {'a', 'b'}]`,
    [`it's`, 'a "word"', 'two\nlines', 'é', -1500, [1, 2], ['a', 'b']],
  ],
  [
    `ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[ToolCallResult(result='2', origin=ToolCall(tool_name='f', arguments={}, id='c_1'), error=False)], _client=<OpenAI object at 0x7f>)`,
    {
      _role: 'tool',
      _content: [{ result: '2', origin: { tool_name: 'f', arguments: {}, id: 'c_1' }, error: false }],
      _client: null,
    },
  ],
])('reads what Python printed: %s', (text, value) => {
  expect(parsePythonRepr(text)).toEqual(value)
})

test.each([
  '',
  'plain text',
  `{'city': 'Par...`,
  `{'city'`,
  `f(x=`,
  '<',
  `[1, 2`,
  `It's sunny`,
  '['.repeat(50),
])('does not read %s', (text) => {
  expect(parsePythonRepr(text)).toBeUndefined()
})

test('reads what Python printed of a model', () => {
  const text = `status='success' result='it is 21C, a=1' error=None files=[File(name='a')]`

  expect(parsePrintedFields(text)).toEqual({
    status: 'success',
    result: 'it is 21C, a=1',
    error: null,
    files: [{ name: 'a' }],
  })
})

test.each(['plain text', 'a=1 and more', "a='open", 'a = 1', 'a==1'])('%s is no printed model', (text) => {
  expect(parsePrintedFields(text)).toBeUndefined()
})
