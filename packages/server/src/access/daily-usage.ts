import { formatBytes, formatCount, formatDuration } from '@playhead/model'
import type { Project } from '../api/schemas/settings.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Store } from '../store/connect.ts'

export type Usage = { spans: number; bytes: number }
type Quota = Pick<Project, 'id' | 'dailySpans' | 'dailyBytes'>

const DAY_MS = 86_400_000

type UsageOptions = {
  store: Pick<Store, 'client'>
  /** Identifies this process among the servers of a store. */
  node: string
  report: (line: string) => void
  nowMs?: () => number
}

/**
 * Counts what each project sent today (UTC), and refuses more than its quota. Counts are in memory and are saved every few
 * seconds: a server that is killed forgets those since. With several servers, each knows the counts of the others up to
 * their last save.
 */
export class DailyUsage {
  readonly #options: UsageOptions
  readonly #nowMs: () => number
  #day: string
  #own = new Map<string, Usage>()
  #others = new Map<string, Usage>()
  readonly #unsaved = new Set<string>()
  #reported = new Set<string>()

  private constructor(options: UsageOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
    this.#day = this.#today()
  }

  static async open(options: UsageOptions): Promise<DailyUsage> {
    const usage = new DailyUsage(options)
    await usage.reload()
    return usage
  }

  note(project: string, { spans, bytes }: Usage): void {
    this.#startDay()
    const own = this.#own.get(project)
    this.#own.set(project, { spans: (own?.spans ?? 0) + spans, bytes: (own?.bytes ?? 0) + bytes })
    this.#unsaved.add(project)
  }

  /** What a project sent today, to all servers. */
  today(project: string): Usage {
    this.#startDay()
    const counts = [this.#own.get(project), this.#others.get(project)]
    return {
      spans: counts.reduce((sum, count) => sum + (count?.spans ?? 0), 0),
      bytes: counts.reduce((sum, count) => sum + (count?.bytes ?? 0), 0),
    }
  }

  /** Throws if the project has used up a quota. */
  check({ id, dailySpans, dailyBytes }: Quota): void {
    if (dailySpans === null && dailyBytes === null) return
    const { spans, bytes } = this.today(id)
    if (dailySpans !== null && spans >= dailySpans) throw this.#refuse(id, `${formatCount(dailySpans)} spans`)
    if (dailyBytes !== null && bytes >= dailyBytes) throw this.#refuse(id, formatBytes(dailyBytes))
  }

  async save(): Promise<void> {
    this.#startDay()
    const projects = [...this.#unsaved]
    if (projects.length === 0) return
    this.#unsaved.clear()
    try {
      await this.#options.store.client.insert({
        table: 'daily_usage',
        format: 'JSONEachRow',
        values: projects.map((project) => ({
          project,
          day: this.#day,
          node: this.#options.node,
          ...this.#own.get(project),
        })),
      })
    } catch (error) {
      for (const project of projects) this.#unsaved.add(project)
      throw error
    }
  }

  /** Reads what other servers, and earlier runs of this one, received today. */
  async reload(): Promise<void> {
    this.#startDay()
    const result = await this.#options.store.client.query({
      query: `SELECT project, sum(spans) AS spans, sum(bytes) AS bytes FROM daily_usage FINAL
        WHERE day = {day:Date} AND node != {node:String} GROUP BY project`,
      query_params: { day: this.#day, node: this.#options.node },
      format: 'JSONEachRow',
    })
    const rows = await result.json<Usage & { project: string }>()
    this.#others = new Map(rows.map(({ project, spans, bytes }) => [project, { spans, bytes }]))
  }

  #refuse(project: string, quota: string): KnownError {
    const waitMs = DAY_MS - (this.#nowMs() % DAY_MS)
    const message = `Project "${project}" has used its quota of ${quota} for today (UTC). It accepts more in ${formatDuration(waitMs)}. Raise it in Settings › Quota, or with: playhead quota --project ${project} --spans none`
    if (!this.#reported.has(project)) this.#options.report(`${message} Until then, its senders get 429.`)
    this.#reported.add(project)
    return new KnownError('QUOTA_EXCEEDED', message, { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
  }

  #startDay(): void {
    const today = this.#today()
    if (today === this.#day) return
    this.#day = today
    this.#own = new Map()
    this.#others = new Map()
    this.#unsaved.clear()
    this.#reported = new Set()
  }

  #today(): string {
    return new Date(this.#nowMs()).toISOString().slice(0, 10)
  }
}
