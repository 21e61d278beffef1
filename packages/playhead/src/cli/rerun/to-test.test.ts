import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readCassette, toRecording, type Session } from '@playhead/model'
import { expect, onTestFinished, test } from 'vitest'
import { actionStep, makeProject, sessionOf } from '../../../test/rerun/project.ts'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { playhead } from '../test/run-playhead.ts'

const input = { attributes: { 'playhead.session.input': '"Refund INV-1"' } }
const failed = session('fail', actionStep('extract', { text: 'Refund INV-1' }, null))
const passed = session('success', actionStep('refund', { invoice: 'INV-1' }, { ok: true }))

function session(endState: 'fail' | 'success', step: ReturnType<typeof actionStep>): Session {
  const made = sessionOf('support', { ...step, ...(endState === 'success' && { effect: 'write' as const }) })
  const id = (endState === 'fail' ? 'a' : 'b').repeat(32)
  return {
    session: { ...made.session, id, endState },
    steps: made.steps.map((one) => (one.parentId === null ? { ...one, ...input } : one)),
  }
}

async function pythonProject(agents: string): Promise<string> {
  const folder = await temporaryFolder()
  await writeFile(
    join(folder, 'pyproject.toml'),
    `[project]\nname = "shop"\n[tool.playhead]\ncassettes = "tests/tapes"\n[tool.playhead.agents]\n${agents}\n`,
  )
  for (const [name, one] of Object.entries({ failed, passed }))
    await writeFile(join(folder, `${name}.json`), recordingOf(one))
  return folder
}

function recordingOf(one: Session): string {
  return JSON.stringify(toRecording(one, one.session.startedAt))
}

test('a Python project gets a test for pytest, and the cassette where its plugin looks', async () => {
  const folder = await pythonProject('support = "shop.agent:run"')
  const args = ['to-test', 'failed.json', '--with', 'passed.json', '--json']
  const { stdout, stderr, exitCode } = await playhead(args, { folder })
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  expect(JSON.parse(stdout)).toMatchObject({
    test: 'tests/test_refund_inv_1.py',
    cassette: 'tests/tapes/test_refund_inv_1/test_refund_inv_1.jsonl',
    joined: passed.session.id,
  })
  expect(await readFile(join(folder, 'tests/test_refund_inv_1.py'), 'utf8')).toContain(
    `    run_agent("support", "Refund INV-1")\n    assert writes(playhead_session) == ["refund"]\n`,
  )
  const cassette = await readFile(
    join(folder, 'tests/tapes/test_refund_inv_1/test_refund_inv_1.jsonl'),
    'utf8',
  )
  expect(readCassette(cassette).meta).toMatchObject({
    agent: 'support',
    sessions: ['a'.repeat(32), 'b'.repeat(32)],
  })
})

test('an agent that pyproject.toml does not name, and a runner that does not exist', async () => {
  const folder = await pythonProject('billing = "shop.agent:run"')
  expect(await playhead(['to-test', 'failed.json'], { folder })).toEqual({
    stdout: '',
    stderr: `playhead: No agent in ${folder}/pyproject.toml makes sessions named "support". Add it:

[tool.playhead.agents]
support = "app.agent:run"

Its agents: billing.
`,
    exitCode: 2,
  })
  expect(await playhead(['to-test', 'failed.json', '--runner', 'mocha'], { folder })).toEqual({
    stdout: '',
    stderr: 'playhead: --runner can\'t be "mocha".\nAllowed values: vitest, jest, node-test, pytest\n',
    exitCode: 2,
  })
})

test('an action that reads runs in the test if that shows the fix, and is served if it needs the world', async () => {
  const text = { text: 'Refund INV-1' }
  const reading = (id: string, change: Partial<Session['session']>, ...results: unknown[]): Session => {
    const steps = results.map((result) => ({
      ...actionStep('extract', text, result),
      effect: 'read' as const,
    }))
    const made = sessionOf('support', ...steps)
    return {
      session: { ...made.session, id: id.repeat(32), ...change },
      steps: made.steps.map((one) => (one.parentId === null ? { ...one, ...input } : one)),
    }
  }
  const agent = (body: string) => `
import { defineConfig, recordTool, withSession } from 'playhead'
const extract = recordTool({ name: 'extract', effect: 'read' }, async (text: string) => { ${body} })
export default defineConfig({
  agents: {
    support: {
      run: ({ text }) => withSession({ name: 'support', input: text }, async () => {
        if ((await extract(text)) === null) throw new Error('no customer')
      }),
    },
  },
})`
  const { folder, remove } = await makeProject({
    'failed.json': recordingOf(
      reading('a', { endState: 'fail', endStateReason: 'Error: no customer' }, null),
    ),
    'passed.json': recordingOf(reading('b', { endState: 'success' }, 'c_42')),
    'playhead.config.ts': agent("return 'c_42'"),
    'elsewhere.config.ts': agent("return (await fetch('https://customers.invalid')).json()"),
  })
  onTestFinished(remove)
  const args = ['failed.json', '--with', 'passed.json', '--runner', 'node-test', '--json', '--force']
  const toTest = async (...more: string[]) => {
    const { stdout, stderr } = await playhead(['to-test', ...args, ...more], { folder })
    return stdout === '' ? stderr : (JSON.parse(stdout) as object)
  }
  expect(await toTest()).toMatchObject({ suspects: ['extract'], isPassed: true })
  await rename(join(folder, 'elsewhere.config.ts'), join(folder, 'playhead.config.ts'))
  expect(await toTest()).toMatchObject({
    suspects: [],
    isPassed: false,
    output: expect.stringContaining('Error: no customer'),
  })
})
