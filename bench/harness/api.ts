import { Agent, request } from 'node:http'

export type Health = {
  spansStored: number
  pendingRows: number
  rowsWithoutWords: number
  disk: { tables: { name: string; rows: number; bytes: number }[] }
}

/** An HTTP client with keep-alive connections. `get` and `post` throw on any status but 200; `send` returns it. */
export class Api {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true })

  constructor(url: string) {
    this.#url = url
  }

  async get<Body>(path: string): Promise<Body> {
    const { status, text } = await this.send('GET', path)
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text.slice(0, 300)}`)
    return (text.startsWith('{') ? JSON.parse(text) : text) as Body
  }

  async post(path: string, body: unknown): Promise<void> {
    const { status, text } = await this.send('POST', path, JSON.stringify(body))
    if (status !== 200) throw new Error(`POST ${path}: ${status} ${text.slice(0, 300)}`)
  }

  health(): Promise<Health> {
    return this.get<Health>('/api/health')
  }

  send(method: string, path: string, body?: string): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const sent = request(
        `${this.#url}${path}`,
        { method, agent: this.#agent, headers: { 'content-type': 'application/json' } },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          )
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
