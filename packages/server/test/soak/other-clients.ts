import { setTimeout as pause } from 'node:timers/promises'
import type { SpawnedServer } from '../spawned-server.ts'
import { hex, tracesPayload } from '../otlp.ts'

/** The requests of one kind of client: how many, how many got no response or a 503, and unexpected responses. */
export type Tally = { requests: number; unavailable: number; unexpected: string[] }

const RETENTION_PROJECT = 'short-retention'
const EXPIRED_MS = 3 * 86_400_000

type Reply = { status: number; text: string }

/** Everyone who uses the server besides the senders: live viewers, readers, and somebody who makes backups. */
export class OtherClients {
  readonly tally: Record<
    'viewers' | 'readers' | 'backups' | 'senders of expired sessions' | 'owners of keys',
    Tally
  > = {
    viewers: { requests: 0, unavailable: 0, unexpected: [] },
    readers: { requests: 0, unavailable: 0, unexpected: [] },
    backups: { requests: 0, unavailable: 0, unexpected: [] },
    'senders of expired sessions': { requests: 0, unavailable: 0, unexpected: [] },
    'owners of keys': { requests: 0, unavailable: 0, unexpected: [] },
  }
  liveEvents = 0
  backupBytes = 0
  workingRevokedKeys = 0
  readonly #revokedSecrets: string[] = []
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
      this.#repeat('senders of expired sessions', 1_000, () => this.#sendExpired()),
      this.#repeat('owners of keys', 1_500, () => this.#revokeKey()),
    ])
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#work
  }

  /** Counts expired sessions: none once retention has run, as it does at every start. */
  async countExpired(): Promise<number> {
    const response = await this.#server.request(`/api/sessions?project=${RETENTION_PROJECT}&limit=1000`)
    const text = await response.text()
    if (response.status === 200) return (JSON.parse(text) as { sessions: unknown[] }).sessions.length
    if (response.status !== 503)
      this.tally.readers.unexpected.push(`${response.status} ${text.slice(0, 300)}`)
    return Number.NaN
  }

  get revokedKeys(): number {
    return this.#revokedSecrets.length
  }

  /** Tries every key that was revoked. */
  async tryRevokedKeys(): Promise<void> {
    for (const secret of this.#revokedSecrets) await this.#tryRevoked(secret)
  }

  /** Creates a key, revokes it, and tries one that was revoked earlier. */
  async #revokeKey(): Promise<Reply> {
    const created = await this.#server.request('/api/keys', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"short-lived","scopes":["read"]}',
    })
    const text = await created.text()
    if (created.status !== 200) return { status: created.status, text }
    const { key, secret } = JSON.parse(text) as { key: { id: string }; secret: string }
    const revoked = await this.#server.request(`/api/keys/${key.id}`, { method: 'DELETE' })
    const answer = { status: revoked.status, text: await revoked.text() }
    if (answer.status === 200) this.#revokedSecrets.push(secret)
    const earlier = this.#revokedSecrets[Math.floor(Math.random() * this.revokedKeys)]
    if (earlier !== undefined) await this.#tryRevoked(earlier)
    return answer
  }

  async #tryRevoked(secret: string): Promise<void> {
    // Without the login of `request`.
    const response = await fetch(`${this.#server.url}/api/sessions?limit=1`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    await response.arrayBuffer()
    if (response.status !== 401 && response.status !== 503) this.workingRevokedKeys += 1
  }

  async #repeat(
    who: keyof OtherClients['tally'],
    everyMs: number,
    request: () => Promise<Reply>,
  ): Promise<void> {
    const tally = this.tally[who]
    while (!this.#end.signal.aborted) {
      // A killed server does not respond at all.
      const { status, text } = await request().catch(() => ({ status: 0, text: '' }))
      tally.requests += 1
      if (status === 0 || status === 503) tally.unavailable += 1
      else if (status !== 200) tally.unexpected.push(`${status} ${text.slice(0, 300)}`)
      await pause(everyMs, undefined, { signal: this.#end.signal }).catch(() => undefined)
    }
  }

  async #view(): Promise<Reply> {
    const response = await this.#server.request('/api/live', { signal: this.#end.signal })
    if (response.status !== 200) return { status: response.status, text: await response.text() }
    for await (const chunk of response.body!)
      this.liveEvents += Buffer.from(chunk).toString().split('\nevent:').length
    return { status: 200, text: '' }
  }

  async #read(index: number): Promise<Reply> {
    const paths = [
      '/api/sessions?limit=50',
      '/api/sessions?status=fail',
      '/api/sessions?text=lookup',
      '/api/stats?groupBy=model',
      '/api/sessions?tool=lookup&cost=>0.00001',
      '/api/tests',
    ]
    const { requests } = this.tally.readers
    const response = await this.#server.request(paths[(requests + index) % paths.length]!)
    const text = await response.text()
    if (response.status !== 200) return { status: response.status, text }
    const id = (JSON.parse(text) as { sessions?: { id: string }[] }).sessions?.[0]?.id
    if (id === undefined) return { status: 200, text }
    const opened = await this.#server.request(`/api/sessions/${id}`)
    return { status: opened.status, text: await opened.text() }
  }

  async #backUp(): Promise<Reply> {
    const response = await this.#server.request('/api/backup', { signal: this.#end.signal })
    for await (const chunk of response.body!) this.backupBytes += (chunk as Uint8Array).length
    return { status: response.status, text: '' }
  }

  async #sendExpired(): Promise<Reply> {
    const startMs = Date.now() - EXPIRED_MS
    const response = await this.#server.request('/v1/traces', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-playhead-project': RETENTION_PROJECT },
      body: JSON.stringify(tracesPayload([{ traceId: hex(16), startMs, endMs: startMs + 5 }])),
    })
    return { status: response.status, text: await response.text() }
  }
}
