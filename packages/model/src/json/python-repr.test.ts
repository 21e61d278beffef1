import { expect, test } from 'vitest'
import { parsePythonRepr } from './python-repr.ts'

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
