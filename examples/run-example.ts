import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Session, Step } from '@playhead/model'
import { expect, onTestFinished } from 'vitest'
import { startTestServer } from '../packages/server/test/test-server.ts'

export type ExampleRun = Session & { output: string }

/** Runs an example as `npm start` does, against a server of its own, and returns the session on that server. */
export async function runExample(name: string): Promise<ExampleRun> {
  const server = await startTestServer()
  onTestFinished(() => server.stop())
  const { code, output } = await runProgram(`${name}/main.ts`, { PLAYHEAD_ENDPOINT: server.url })
  if (code !== 0) throw new Error(`The example exited with ${String(code)}:\n${output}`)
  const [summary] = await server.sessions()
  if (summary === undefined) throw new Error(`The server has no session:\n${output}`)
  return { ...(await server.session(summary.id)), output }
}

/** Runs an example program without any provider's API key. */
export async function runProgram(
  path: string,
  environment: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const { OPENAI_API_KEY: _openai, ANTHROPIC_API_KEY: _anthropic, ...inherited } = process.env
  const script = fileURLToPath(new URL(path, import.meta.url))
  const child = spawn(process.execPath, ['--conditions=playhead-source', script], {
    cwd: dirname(script),
    env: { ...inherited, PLAYHEAD_SPOOL: 'off', ...environment },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

/** One line per step: its kind and name, indented by depth. */
export function outlineOf({ steps }: Session): string[] {
  const depths = new Map<string, number>()
  return steps.map(({ id, parentId, kind, name }) => {
    const depth = parentId === null ? 0 : (depths.get(parentId) ?? 0) + 1
    depths.set(id, depth)
    return `${'  '.repeat(depth)}${kind} ${name}`
  })
}

/**
 * Checks the session that every example records: a support agent calls its model, looks up a customer, and answers. Returns
 * the two model calls.
 */
export function expectSupportSession(
  run: ExampleRun,
  { example, model }: { example: string; model: string },
): { asked: Step; told: Step } {
  const { session, steps, output } = run
  expect(session).toMatchObject({
    name: 'support',
    endState: 'success',
    tags: ['example', example],
    llmCallCount: 2,
    errorCount: 0,
    tools: ['fetch_customer_data'],
    models: [model],
    unpricedModels: [],
  })
  expect(output).toContain(`You were charged once, Ada.`)
  expect(output).toContain(`Cost: $${session.cost}. Replay: ${session.url}`)
  const [asked, told] = steps.filter(({ kind, messages }) => kind === 'llm' && messages !== undefined)
  expect(asked!.messages!.at(-1)!.parts.at(-1)).toMatchObject({
    type: 'tool-call',
    name: 'fetch_customer_data',
    arguments: { customerId: 'c_42' },
  })
  expect(told!.outputPreview).toContain('You were charged once, Ada.')
  return { asked: asked!, told: told! }
}
