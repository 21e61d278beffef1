import { Webhook } from 'standardwebhooks'
import type { DeliveryResponse, DestinationResponse } from '../../src/api/schemas/alerts.ts'
import { hex, tracesPayload } from '../otlp.ts'
import { session } from '../project-server.ts'
import { startTestServer, type TestServer } from '../test-server.ts'
import type { Receiver } from './receiver.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

export type WebhookBody = {
  type: string
  data: { title: string; isRepeat: boolean; alerts: Record<string, unknown>[] }
}

export const bodies = (receiver: Receiver) => receiver.accepted() as WebhookBody[]
export const titles = (receiver: Receiver) => bodies(receiver).map(({ data }) => data.title)

/** A server whose monitors and worker are told the time. */
export class AlertStage {
  readonly server: TestServer
  #projects = 0

  private constructor(server: TestServer) {
    this.server = server
  }

  static async start(): Promise<AlertStage> {
    const server = await startTestServer({
      PLAYHEAD_ALERT_ALLOW: '127.0.0.1',
      PLAYHEAD_URL: 'https://playhead.example',
    })
    await server.services.monitorLoop.stop()
    await server.services.alertWorker.stop()
    return new AlertStage(server)
  }

  async freshProject(): Promise<string> {
    const id = `a${(this.#projects += 1)}`
    await this.server.services.registry.createProject({ id, name: id })
    return id
  }

  async post<Answer>(path: string, json: object): Promise<Answer> {
    const response = await this.server.request(path, { json })
    const text = await response.text()
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as Answer
  }

  saveDestination(project: string, body: object): Promise<DestinationResponse & { secret?: string }> {
    return this.post(`/api/destinations?project=${project}`, body)
  }

  async webhook(project: string, receiver: Receiver, more: object = {}) {
    const given = { kind: 'webhook', name: 'Hook', url: receiver.url, ...more }
    const { secret, ...destination } = await this.saveDestination(project, given)
    return { destination, verifier: new Webhook(secret!) }
  }

  async deliveries(project: string): Promise<DeliveryResponse[]> {
    const response = await this.server.request(`/api/deliveries?project=${project}`)
    return ((await response.json()) as { deliveries: DeliveryResponse[] }).deliveries
  }

  /** A monitor that fires on sessions that call `action`; the window decides when it is resolved. */
  async watch(
    project: string,
    action: string,
    more: { windowMs?: number; name?: string; destinations?: string[] } = {},
  ): Promise<void> {
    const { windowMs = HOUR, ...rest } = more
    await this.post(`/api/monitors?project=${project}`, {
      name: `No ${action}`,
      condition: { kind: 'rule', rule: { kind: 'never', action }, windowMs, sessions: 1 },
      ...rest,
    })
  }

  async send(project: string, options: Parameters<typeof session>[0]): Promise<string> {
    const traceId = hex(16)
    await this.server.request('/v1/traces', {
      json: tracesPayload(session({ traceId, ...options })),
      headers: { 'x-playhead-project': project },
    })
    await this.server.services.drain()
    await this.server.services.findings.computeAll(project, [traceId])
    return traceId
  }

  /** Evaluates the monitors and lets the worker work, as of a time. */
  async at(nowMs: number): Promise<void> {
    await this.server.services.monitorLoop.evaluate(nowMs)
    await this.server.services.alertWorker.tick(nowMs)
  }
}
