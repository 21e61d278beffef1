import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryOf, type SpawnedServer } from '../spawned-server.ts'

type Point = { pid: number; atMs: number; mb: number }

/** How the memory of a process developed after its warm-up; `slopeMbPerMinute` is NaN if it did not live long enough. */
export type Trend = {
  slopeMbPerMinute: number
  fromMb: number
  toMb: number
  peakMb: number
  lifeMs: number
}

/**
 * During its warm-up a process always grows: V8 sizes its heap to the allocation rate, and the engine starts its threads.
 * The server also remembers the calls of the last two to four minutes.
 */
export const WARM_UP_MS = 240_000
/** Over a shorter time, a slope is noise. */
const MIN_MEASURED_MS = 60_000
const INTERVAL_MS = 1_000
/** Finding the engine process is expensive, so it is measured less often. */
const ENGINE_EVERY = 5

/** Samples the memory of the server and its engine, across restarts. */
export class MemoryWatch {
  /** The server writes its heap size after every full garbage collection to this file. */
  readonly heapFile = join(tmpdir(), `playhead-soak-memory-${process.pid}`)
  readonly #server: Point[] = []
  readonly #engine: Point[] = []
  #timer: NodeJS.Timeout | undefined
  #startedAtMs = 0

  start(server: SpawnedServer): void {
    this.#startedAtMs = performance.now()
    this.#timer = setInterval(() => this.#sample(server), INTERVAL_MS)
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

  #sample(server: SpawnedServer): void {
    if (!server.isAlive()) return
    this.#add(this.#server, server.pid)
    const engine = this.#server.length % ENGINE_EVERY === 0 ? server.enginePid() : undefined
    if (engine !== undefined) this.#add(this.#engine, engine)
  }

  #add(points: Point[], pid: number): void {
    try {
      points.push({ pid, atMs: performance.now() - this.#startedAtMs, mb: memoryOf(pid).nowMb })
    } catch {
      // The process was just killed.
    }
  }

  #heap(): Point[] {
    if (!existsSync(this.heapFile)) return []
    const lines = readFileSync(this.heapFile, 'utf8').split('\n')
    return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Point]))
  }
}

/** Fits a line (least squares) to the longest-lived process, without its warm-up. */
function trendOf(points: readonly Point[]): Trend {
  const lives = [...Map.groupBy(points, ({ pid }) => pid).values()]
  const life = lives.toSorted((left, right) => durationOf(right) - durationOf(left))[0] ?? []
  const peakMb = Math.max(...points.map(({ mb }) => mb))
  const used = life.filter(({ atMs }) => atMs >= life[0]!.atMs + WARM_UP_MS)
  const isLong = durationOf(used) >= MIN_MEASURED_MS
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

export function describeTrend({ slopeMbPerMinute, fromMb, toMb, peakMb, lifeMs }: Trend): string {
  const life = `${Math.round(lifeMs / 1_000)} s`
  if (Number.isNaN(slopeMbPerMinute))
    return `${fromMb} to ${toMb} MB in its longest run of ${life}: too short for a slope; peak ${peakMb} MB`
  return `${fromMb} to ${toMb} MB after a warm-up of ${WARM_UP_MS / 1_000} s, in its longest run of ${life}; peak ${peakMb} MB`
}
