import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as playhead from '../src/index.ts'
import { openRecording } from '../src/testing/sessions/load-session.ts'
import { startBillingService } from './billing-service.ts'

let folder: string
let service: Awaited<ReturnType<typeof startBillingService>>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playhead-parts-'))
  playhead.init({ dir: folder, capture: false })
  service = await startBillingService({ PLAYHEAD_DIR: folder })
})
afterAll(async () => {
  await playhead.shutdown()
  await service.stop()
  await rm(folder, { recursive: true })
})

async function recordedNames(id: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.includes(id.slice(0, 8)))
  const written = files.filter((name) => name.endsWith('.jsonl'))
  const parts = await Promise.all(written.map((name) => openRecording(join(folder, name))))
  const names = new Map(parts.flatMap(({ steps }) => steps.map(({ id, name }) => [id, name] as const)))
  return [...names.values()].toSorted((left, right) => left.localeCompare(right))
}

test('parts of a session that start in the same second do not overwrite each other', async () => {
  const ask = async (path: string) => (await fetch(service.url + path)).text()
  const session = await playhead.withSession({ name: 'across' }, async (view) => {
    await ask('/?id=c_1')
    await ask('/?id=c_2')
    return view
  })
  await playhead.flush()

  await expect.poll(() => recordedNames(session.id)).toEqual(['across', 'find_invoices', 'find_invoices'])
})
