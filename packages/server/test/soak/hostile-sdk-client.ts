import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SpawnedServer } from '../spawned-server.ts'

const STEPS_PER_SESSION = 4

export type HostileSdk = {
  /** Lets the program send what is left; the ids of its innocent sessions, and how many steps it dropped. */
  finish(): Promise<{ ids: string[]; stats: { dropped: number; faults: number } }>
}

/** Starts a program that records values which can't be encoded beside innocent sessions. */
export async function startHostileSdk(server: SpawnedServer): Promise<HostileSdk> {
  const response = await server.request('/api/keys', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"hostile SDK","scopes":["ingest"]}',
  })
  const { secret } = (await response.json()) as { secret: string }
  const child = fork(fileURLToPath(new URL('./hostile-sdk.ts', import.meta.url)), {
    execArgv: ['--conditions=playhead-source'],
    env: { ...process.env, PLAYHEAD_ENDPOINT: server.url, PLAYHEAD_API_KEY: secret, PLAYHEAD_SPOOL: 'off' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  return {
    async finish() {
      child.send('finish')
      const [result] = (await once(child, 'message')) as [Awaited<ReturnType<HostileSdk['finish']>>]
      return result
    },
  }
}

/** The innocent sessions that did not arrive whole. Only those that the list does not show whole are opened. */
export async function findIncomplete(server: SpawnedServer, ids: readonly string[]): Promise<string[]> {
  const listed = new Map((await server.allSessions()).map(({ id, stepCount }) => [id, stepCount]))
  const incomplete: string[] = []
  for (const id of ids) {
    if (listed.get(id) === STEPS_PER_SESSION) continue
    const response = await server.request(`/api/sessions/${id}`)
    const body = (await response.json()) as { session?: { stepCount: number } }
    if (body.session?.stepCount !== STEPS_PER_SESSION)
      incomplete.push(`${id}: ${response.status}, ${body.session?.stepCount} of ${STEPS_PER_SESSION} steps`)
  }
  return incomplete
}
