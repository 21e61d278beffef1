import { setTimeout as pause } from 'node:timers/promises'
import type { SpawnedServer } from '../spawned-server.ts'
import { hex, tracesPayload } from '../otlp.ts'

/** How often something was asked, and how often it was not answered as it should; being told to wait is no fault. */
export type Tally = { asked: number; told: number; wrong: string[] }

const RETENTION_PROJECT = 'short-memory'
const OLD_MS = 3 * 86_400_000

type Answer = { status: number; text: string }

/** Everyone who uses the server beside those who send: viewers, readers, somebody who makes backups. */
export class Company {
  readonly tally: Record<'viewers' | 'readers' | 'backups' | 'old sessions', Tally> = {
    viewers: { asked: 0, told: 0, wrong: [] },
    readers: { asked: 0, told: 0, wrong: [] },
    backups: { asked: 0, told: 0, wrong: [] },
    'old sessions': { asked: 0, told: 0, wrong: [] },
  }
  liveEvents = 0
  backupBytes = 0
  readonly #server: SpawnedServer
  readonly #end = new AbortController()
  #work: Promise<unknown> = Promise.resolve()

  constructor(server: SpawnedServer) {
    this.#server = server
  }

  async start(): Promise<void> {
    const json = { 'content-type': 'application/json' }
    const project = { id: RETENTION_PROJECT, name: RETENTION_PROJECT }
    await this.#server.request('/api/projects', {
      method: 'POST',
      headers: json,
      body: JSON.stringify(project),
    })
    await this.#server.request(`/api/projects/${RETENTION_PROJECT}`, {
      method: 'PATCH',
      headers: json,
      body: '{"retentionDays":1}',
    })
    this.#work = Promise.all([
      ...Array.from({ length: 8 }, () => this.#repeat('viewers', 50, () => this.#view())),
      ...Array.from({ length: 2 }, (_, index) => this.#repeat('readers', 150, () => this.#read(index))),
      this.#repeat('backups', 45_000, () => this.#backUp()),
      this.#repeat('old sessions', 1_000, () => this.#sendOld()),
    ])
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#work
  }

  /** Sessions older than their project keeps them: none once retention has run, which it does at a start. */
  async countOld(): Promise<number> {
    const response = await this.#server.request(`/api/sessions?project=${RETENTION_PROJECT}&limit=1000`)
    const text = await response.text()
    if (response.status === 200) return (JSON.parse(text) as { sessions: unknown[] }).sessions.length
    if (response.status !== 503) this.tally.readers.wrong.push(`${response.status} ${text.slice(0, 300)}`)
    return Number.NaN
  }

  async #repeat(who: keyof Company['tally'], everyMs: number, ask: () => Promise<Answer>): Promise<void> {
    const tally = this.tally[who]
    while (!this.#end.signal.aborted) {
      // No answer at all is what a killed server gives.
      const { status, text } = await ask().catch(() => ({ status: 0, text: '' }))
      tally.asked += 1
      if (status === 0 || status === 503) tally.told += 1
      else if (status !== 200) tally.wrong.push(`${status} ${text.slice(0, 300)}`)
      await pause(everyMs, undefined, { signal: this.#end.signal }).catch(() => undefined)
    }
  }

  async #view(): Promise<Answer> {
    const response = await this.#server.request('/api/live', { signal: this.#end.signal })
    if (response.status !== 200) return { status: response.status, text: await response.text() }
    for await (const chunk of response.body!)
      this.liveEvents += Buffer.from(chunk).toString().split('\nevent:').length
    return { status: 200, text: '' }
  }

  async #read(index: number): Promise<Answer> {
    const paths = [
      '/api/sessions?limit=50',
      '/api/sessions?status=fail',
      '/api/sessions?text=lookup',
      '/api/stats?groupBy=model',
      '/api/sessions?tool=lookup&cost=>0.00001',
      '/api/tests',
    ]
    const { asked } = this.tally.readers
    const response = await this.#server.request(paths[(asked + index) % paths.length]!)
    const text = await response.text()
    if (response.status !== 200) return { status: response.status, text }
    const id = (JSON.parse(text) as { sessions?: { id: string }[] }).sessions?.[0]?.id
    if (id === undefined) return { status: 200, text }
    const opened = await this.#server.request(`/api/sessions/${id}`)
    return { status: opened.status, text: await opened.text() }
  }

  async #backUp(): Promise<Answer> {
    const response = await this.#server.request('/api/backup', { signal: this.#end.signal })
    for await (const chunk of response.body!) this.backupBytes += (chunk as Uint8Array).length
    return { status: response.status, text: '' }
  }

  async #sendOld(): Promise<Answer> {
    const startMs = Date.now() - OLD_MS
    const response = await this.#server.request('/v1/traces', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-playhead-project': RETENTION_PROJECT },
      body: JSON.stringify(tracesPayload([{ traceId: hex(16), startMs, endMs: startMs + 5 }])),
    })
    return { status: response.status, text: await response.text() }
  }
}
