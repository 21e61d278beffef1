import { isRecord } from '../json/attribute-value.ts'

/** What a generated test says about a session. */
export type TestFacts = {
  title: string
  agent: string
  /** What `runAgent` is given. */
  input: unknown
  comment: string[]
  /** Undefined if no session shows them. */
  effects: { tool: string; args?: unknown }[] | undefined
  /** True if errors that the agent handled are part of the right way. */
  hasHandledErrors: boolean
  nulls: string[]
}

/** A test for vitest, jest or node:test. */
export function writeJavaScriptTest(
  facts: TestFacts,
  { runner, isCommonJs = false }: { runner: string; isCommonJs?: boolean | undefined },
): string {
  const { title, agent, input, comment, effects, hasHandledErrors, nulls } = facts
  const isNodeTest = runner === 'node-test'
  const expected = literal(nulls)
  const calls = effects?.map(({ tool, args }) => (args === undefined ? tool : { tool, args }))
  const load = (names: string, module: string) =>
    isCommonJs ? `const ${names} = require('${module}')\n` : `import ${names} from '${module}'\n`
  return `${isNodeTest ? load('assert', 'node:assert/strict') : ''}${load('{ expect, nullArguments, runAgent, test }', `playhead/${runner}`)}
${comment.map((line) => `// ${line}\n`).join('')}test(${literal(title)}, { cassette: true }, async ({ session }) => {
  await runAgent(${literal(agent)}, ${literal(input, 2)})

${calls === undefined ? '' : `  expect(session).toHaveEffects(${literal(calls, 2)}${calls.length > 1 ? ', { inOrder: true }' : ''})\n`}  expect(session).toHaveNoErrors(${hasHandledErrors ? '{ allowHandled: true }' : ''})
  ${isNodeTest ? `assert.deepEqual(nullArguments(session), ${expected})` : `expect(nullArguments(session)).toEqual(${expected})`}
})
`
}

/** A test for pytest. */
export function writePythonTest(facts: TestFacts, name: string): string {
  const { agent, input, comment, effects, hasHandledErrors, nulls } = facts
  const names = ['null_arguments', 'run_agent', ...(effects === undefined ? [] : ['writes'])]
  const written = effects?.map(({ tool }) => tool)
  return `import pytest
from playhead.testing import ${names.join(', ')}


${comment.map((line) => `# ${line}\n`).join('')}@pytest.mark.cassette
def ${name}(playhead_session):
    run_agent(${pythonLiteral(agent)}, ${pythonLiteral(input)})
${written === undefined ? '' : `    assert writes(playhead_session) == ${pythonLiteral(written)}\n`}${hasHandledErrors ? '' : '    assert playhead_session.errors == []\n'}    assert null_arguments(playhead_session) == ${pythonLiteral(nulls)}
`
}

const WIDTH = 90

/** A value as JavaScript code, over several lines if it is long. */
function literal(value: unknown, indent = 0): string {
  const inline = inlineLiteral(value)
  if (inline.length + indent <= WIDTH || typeof value !== 'object' || value === null) return inline
  const pad = ' '.repeat(indent + 2)
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, indent + 2))
    : Object.entries(value).map(([key, item]) => `${keyLiteral(key)}: ${literal(item, indent + 2)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${items.map((item) => `${pad}${item},\n`).join('')}${' '.repeat(indent)}${close}`
}

function inlineLiteral(value: unknown): string {
  if (typeof value === 'string') return textLiteral(value)
  if (Array.isArray(value)) return `[${value.map(inlineLiteral).join(', ')}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'undefined'
  const items = Object.entries(value).map(([key, item]) => `${keyLiteral(key)}: ${inlineLiteral(item)}`)
  return items.length === 0 ? '{}' : `{ ${items.join(', ')} }`
}

function keyLiteral(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) && key !== '__proto__' ? key : `[${textLiteral(key)}]`
}

function textLiteral(text: string): string {
  const inside = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
  return `'${escapeHidden(inside).replaceAll("'", String.raw`\'`)}'`
}

/** Characters that change how code is shown without being seen. */
function escapeHidden(code: string): string {
  const hidden = /[\u200B-\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/g
  return code.replaceAll(
    hidden,
    (letter) => String.raw`\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`
  if (!isRecord(value)) return escapeHidden(JSON.stringify(value))
  const items = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${pythonLiteral(item)}`)
  return `{${items.join(', ')}}`
}
