import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryOf, type SpawnedServer } from '../spawned-server.ts'

type Point = { pid: number; atMs: number; mb: number }

/** How much memory a process took, once it was warm; `slopeMbPerMinute` is NaN when it did not live long enough. */
export type Trend = {
  slopeMbPerMinute: number
  fromMb: number
  toMb: number
  peakMb: number
  lifeMs: number
}

/**
 * Until then a process grows by nature: V8 sizes its heap to the rate at which it is used, the engine starts its threads.
 * What the server remembers of calls is those of the last two to four minutes.
 */
export const WARM_UP_MS = 240_000
/** Shorter than this, a slope is noise. */
const MEASURED_MS = 60_000
const EVERY_MS = 1_000
/** Its process has to be looked for, which is work. */
const ENGINE_EVERY = 5

/** The memory of the server and of its engine, in all their lives. */
export class MemoryWatch {
  /** Where the server writes what of its heap is in use after a full collection. */
  readonly heapFile = join(tmpdir(), `playhead-soak-memory-${process.pid}`)
  readonly #server: Point[] = []
  readonly #engine: Point[] = []
  #timer: NodeJS.Timeout | undefined
  #startedAtMs = 0

  start(server: SpawnedServer): void {
    this.#startedAtMs = performance.now()
    this.#timer = setInterval(() => this.#look(server), EVERY_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  remove(): void {
    rmSync(this.heapFile, { force: true })
  }

  trends(): Record<'server' | 'heap' | 'engine', Trend> {
    return { server: trendOf(this.#server), heap: trendOf(this.#heap()), engine: trendOf(this.#engine) }
  }

  #look(server: SpawnedServer): void {
    if (!server.isAlive()) return
    this.#add(this.#server, server.pid)
    const engine = this.#server.length % ENGINE_EVERY === 0 ? server.enginePid() : undefined
    if (engine !== undefined) this.#add(this.#engine, engine)
  }

  #add(points: Point[], pid: number): void {
    try {
      points.push({ pid, atMs: performance.now() - this.#startedAtMs, mb: memoryOf(pid).nowMb })
    } catch {
      // It was killed this moment.
    }
  }

  #heap(): Point[] {
    if (!existsSync(this.heapFile)) return []
    const lines = readFileSync(this.heapFile, 'utf8').split('\n')
    return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Point]))
  }
}

/** Least squares over the life of the process that lived longest, without its beginning. */
function trendOf(points: readonly Point[]): Trend {
  const lives = [...Map.groupBy(points, ({ pid }) => pid).values()]
  const life = lives.toSorted((left, right) => durationOf(right) - durationOf(left))[0] ?? []
  const peakMb = Math.max(...points.map(({ mb }) => mb))
  const used = life.filter(({ atMs }) => atMs >= life[0]!.atMs + WARM_UP_MS)
  const isLong = durationOf(used) >= MEASURED_MS
  const shown = isLong ? used : life
  return {
    slopeMbPerMinute: isLong ? slopeOf(used) * 60_000 : Number.NaN,
    fromMb: Math.round(shown[0]?.mb ?? Number.NaN),
    toMb: Math.round(shown.at(-1)?.mb ?? Number.NaN),
    peakMb: Math.round(peakMb),
    lifeMs: durationOf(life),
  }
}

function durationOf(points: readonly Point[]): number {
  return (points.at(-1)?.atMs ?? 0) - (points[0]?.atMs ?? 0)
}

function slopeOf(points: readonly Point[]): number {
  const mean = (pick: (point: Point) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length
  const [meanAt, meanMb] = [mean(({ atMs }) => atMs), mean(({ mb }) => mb)]
  const covariance = mean(({ atMs, mb }) => (atMs - meanAt) * (mb - meanMb))
  return covariance / mean(({ atMs }) => (atMs - meanAt) ** 2)
}

/** As one reads it. */
export function describeTrend({ slopeMbPerMinute, fromMb, toMb, peakMb, lifeMs }: Trend): string {
  const life = `${Math.round(lifeMs / 1_000)} s`
  if (Number.isNaN(slopeMbPerMinute))
    return `${fromMb} to ${toMb} MB in its longest life, of ${life}: too short for a slope; highest ${peakMb} MB`
  return `${fromMb} to ${toMb} MB from second ${WARM_UP_MS / 1_000} on of its longest life, of ${life}; highest ${peakMb} MB`
}
