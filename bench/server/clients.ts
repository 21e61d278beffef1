import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AttackOptions } from './attackers.ts'

const entry = fileURLToPath(new URL('./clients-main.ts', import.meta.url))

/** Which clients run in the other process, and with which options. */
export type ClientsOrder = { attackers: AttackOptions } | { viewers: { url: string; connections: number } }

export type Clients = { counts(): Promise<Record<string, number>>; stop(): Promise<Record<string, number>> }

/** Starts clients in a process of their own, so that they don't delay who measures. */
export async function startClients(order: ClientsOrder): Promise<Clients> {
  const child = fork(entry, [JSON.stringify(order)], { execArgv: ['--conditions=playhead-source'] })
  const ask = async () => {
    child.send('counts')
    const [counts] = (await once(child, 'message')) as [Record<string, number>]
    return counts
  }
  await once(child, 'message')
  return {
    counts: ask,
    async stop() {
      const counts = await ask()
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
      return counts
    },
  }
}
