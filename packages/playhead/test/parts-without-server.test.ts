import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as playhead from '../src/index.ts'
import { openRecording } from '../src/testing/open-recording.ts'
import { finish, startProgram } from './run-program.ts'

let folder: string
let service: ReturnType<typeof startProgram>
let serviceUrl: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playhead-parts-'))
  playhead.init({ dir: folder, capture: false })
  service = startProgram('billing-service', { environment: { PLAYHEAD_DIR: folder } })
  serviceUrl = await new Promise<string>((resolve) => {
    service.stdout!.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()))
  })
})
afterAll(async () => {
  await playhead.shutdown()
  const ended = finish(service)
  service.kill('SIGTERM')
  await ended
  await rm(folder, { recursive: true })
})

async function recordedNames(id: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.includes(id.slice(0, 8)))
  const written = files.filter((name) => name.endsWith('.jsonl'))
  const parts = await Promise.all(written.map((name) => openRecording(join(folder, name))))
  const names = new Map(parts.flatMap(({ steps }) => steps.map(({ id, name }) => [id, name] as const)))
  return [...names.values()].toSorted((left, right) => left.localeCompare(right))
}

test('parts of one session that begin in the same second do not overwrite each other', async () => {
  const ask = async (path: string) => (await fetch(serviceUrl + path)).text()
  const session = await playhead.withSession({ name: 'across' }, async (view) => {
    await ask('/?id=c_1')
    await ask('/?id=c_2')
    return view
  })
  await playhead.flush()

  await expect.poll(() => recordedNames(session.id)).toEqual(['across', 'find_invoices', 'find_invoices'])
})
