import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { context, type Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { NoopSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { installCapture } from '../../packages/playhead/src/capture/hooks/install-capture.ts'
import { percentile } from '../harness/percentile.ts'

export type CaptureFigures = {
  /** The CPU time in microseconds that capture adds to one chat completion. */
  wholeCallMicroseconds: number
  /** The same for a streamed response with this many events. */
  streamedCallMicroseconds: number
  streamedEvents: number
  /** The CPU time of the same calls without capture. */
  bareWholeMicroseconds: number
  bareStreamedMicroseconds: number
  /** The time to the first token in milliseconds with a model that thinks, and what capture adds to it. */
  firstTokenBareMs: number
  firstTokenCapturedMs: number
  firstTokenAddedPercent: number
  /** The time in microseconds that capture adds with a model that responds at once. */
  firstTokenAddedMicroseconds: number
}

const ROUNDS = 12
const CALLS_PER_ROUND = 100
/** How long the model takes until its first token. */
const THINK_MS = 200
const EVENTS = 200
/** Compares the faster rounds, because other programs only ever make a round slower. */
const FAST_SHARE = 0.25

/** Measures what capture costs its host, with a model in another process on loopback. */
export async function measureCapture(): Promise<CaptureFigures> {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const tracer = new TracerProvider({ spanProcessors: [new NoopSpanProcessor()] }).getTracer('playhead')
  const model = await startModel()
  try {
    const whole = await compare(tracer, () => cpuTime(CALLS_PER_ROUND, () => callWhole(model.url)))
    const streamed = await compare(tracer, () =>
      cpuTime(Math.ceil(CALLS_PER_ROUND / 5), () => callStreamed(model.url)),
    )
    const thinking = await compare(tracer, () => firstTokens(40, () => callStreamed(model.url, THINK_MS), 8))
    const atOnce = await compare(tracer, () => firstTokens(30, () => callStreamed(model.url, 0), 1))
    return {
      wholeCallMicroseconds: whole.captured - whole.bare,
      streamedCallMicroseconds: streamed.captured - streamed.bare,
      streamedEvents: EVENTS,
      bareWholeMicroseconds: whole.bare,
      bareStreamedMicroseconds: streamed.bare,
      firstTokenBareMs: thinking.bare,
      firstTokenCapturedMs: thinking.captured,
      firstTokenAddedPercent: (thinking.captured / thinking.bare - 1) * 100,
      firstTokenAddedMicroseconds: (atOnce.captured - atOnce.bare) * 1000,
    }
  } finally {
    model.process.kill()
  }
}

/** Measures with and without capture in turns, so that both see the same machine. */
async function compare(tracer: Tracer, measure: () => Promise<number>) {
  const bare: number[] = []
  const captured: number[] = []
  await measure()
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await measure())
    const capture = installCapture({
      tracer: () => tracer,
      content: true,
      redactText: (text) => text,
      maxValueBytes: 1024 * 1024,
      report: (line) => console.error(line),
      isOwnRequest: () => false,
    })
    captured.push(await measure())
    capture.uninstall()
  }
  return { bare: percentile(bare, FAST_SHARE), captured: percentile(captured, FAST_SHARE) }
}

async function cpuTime(calls: number, call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < calls; index++) await call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

/** The median time to the first token, in milliseconds. */
async function firstTokens(calls: number, call: () => Promise<number>, parallel: number): Promise<number> {
  const times: number[] = []
  for (let done = 0; done < calls; done += parallel)
    times.push(...(await Promise.all(Array.from({ length: parallel }, call))))
  return percentile(times, 0.5)
}

const messages = [
  { role: 'system', content: 'You answer questions about invoices. '.repeat(20) },
  { role: 'user', content: 'I was charged twice for my subscription, please have a look. '.repeat(10) },
]

async function post(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages, ...body }),
  })
}

async function callWhole(url: string): Promise<unknown> {
  return (await post(url, {})).json()
}

/** Reads a whole stream and returns the milliseconds to its first chunk. With `thinkMs`, chunks arrive one by one. */
async function callStreamed(url: string, thinkMs?: number): Promise<number> {
  const start = performance.now()
  const response = await post(url, { stream: true, ...(thinkMs !== undefined && { seed: thinkMs }) })
  let firstMs: number | undefined
  for await (const _chunk of response.body!) firstMs ??= performance.now() - start
  return firstMs ?? Number.NaN
}

/** Runs in its own process, so that its work does not count as ours. */
async function startModel(): Promise<{ url: string; process: ChildProcess }> {
  const script = `
    const { startScriptedModel } = await import('@playhead/scripted-model')
    const chunks = Array.from({ length: ${EVENTS} }, (_, index) => 'word' + index + ' ')
    const { url } = await startScriptedModel(({ isStream, body: { seed } }) => {
      if (!isStream) return { text: 'It was charged once. '.repeat(20) }
      return seed === undefined ? { chunks } : { chunks: chunks.slice(0, 20), delayMs: seed || undefined, chunkDelayMs: 3 }
    })
    console.log(url)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { url, process: child }
}
