import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Session, Step } from '@playhead/model'

const repository = fileURLToPath(new URL('../../../..', import.meta.url))

// Every test starts processes that load the same sources.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'playhead-compile-cache')

/** A user's project with the SDK of this repository, and these files. */
export async function makeProject(
  files: Record<string, string>,
): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'playhead-project-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(join(repository, 'packages/playhead'), join(folder, 'node_modules/playhead'))
  const all = { 'package.json': '{ "type": "module" }', ...files }
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) }
}

export const SESSION_ID = 'a'.repeat(32)

/** A recorded session named like its agent, whose steps are all below its root. */
export function sessionOf(name: string, ...steps: (Partial<Step> & Pick<Step, 'kind' | 'name'>)[]): Session {
  const root: Partial<Step> & Pick<Step, 'kind' | 'name'> = { kind: 'workflow', name }
  return {
    session: {
      id: SESSION_ID,
      name,
      endState: 'success',
      startedAt: at,
      endedAt: at,
      durationMs: 10,
      tags: [],
      usage: {},
      cost: null,
      unpricedModels: [],
      stepCount: steps.length + 1,
      llmCallCount: 0,
      actionCount: 0,
      errorCount: 0,
      models: [],
      agents: [],
      tools: [],
      demo: false,
    },
    steps: [root, ...steps].map((step, index) => ({
      id: `${index}`.padStart(16, '0'),
      parentId: index === 0 ? null : '0'.repeat(16),
      startedAt: at,
      endedAt: at,
      offsetMs: index,
      durationMs: 1,
      status: 'ok',
      hasPayload: true,
      cost: null,
      dialect: 'playhead',
      ...step,
    })),
  }
}

const at = '2026-11-16T09:00:00.000Z'

export function actionStep(
  name: string,
  given: unknown,
  result: unknown,
): Pick<Step, 'kind' | 'name'> & Partial<Step> {
  return {
    kind: 'action',
    name,
    tool: { name, arguments: given, result },
    attributes: {
      'playhead.action.arguments': JSON.stringify(given),
      'playhead.action.result': JSON.stringify(result),
      'playhead.action.shape': 'promise',
    },
  }
}
