import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { context, type Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { NoopSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { installCapture } from '../packages/playhead/src/capture/hooks/install-capture.ts'
import { percentile } from './percentile.ts'

export type CaptureFigures = {
  /** Processor time that a captured call adds, in microseconds: one whole answer of chat completions. */
  wholeCallMicroseconds: number
  /** The same for a streamed answer, with the number of events it had. */
  streamedCallMicroseconds: number
  streamedEvents: number
  /** Processor time of the same calls without capture. */
  bareWholeMicroseconds: number
  bareStreamedMicroseconds: number
  /** Time to the first token with a model that thinks as long as given, in milliseconds, and what capture adds to it. */
  firstTokenBareMs: number
  firstTokenCapturedMs: number
  firstTokenAddedPercent: number
  /** The same with a model that answers at once: the added time alone, in microseconds. */
  firstTokenAddedMicroseconds: number
}

export type CaptureBenchOptions = {
  /** Rounds of each measurement; with and without take turns. */
  rounds?: number
  callsPerRound?: number
  /** How long the model takes to its first token. */
  thinkMs?: number
}

const EVENTS = 200
/** Rounds are compared by their quieter half: other programs only ever make them slower. */
const QUIET = 0.25

/** Measures what capture costs the host: on the loopback, against a model in another process. */
export async function measureCapture(options: CaptureBenchOptions = {}): Promise<CaptureFigures> {
  const { rounds = 12, callsPerRound = 100, thinkMs = 200 } = options
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const tracer = new TracerProvider({ spanProcessors: [new NoopSpanProcessor()] }).getTracer('playhead')
  const model = await startModel()
  try {
    const whole = await compare(rounds, tracer, () => processorTime(callsPerRound, () => askWhole(model.url)))
    const streamed = await compare(rounds, tracer, () =>
      processorTime(Math.ceil(callsPerRound / 5), () => askStreamed(model.url)),
    )
    const thinking = await compare(rounds, tracer, () =>
      firstTokens(40, () => askStreamed(model.url, thinkMs), 8),
    )
    const atOnce = await compare(rounds, tracer, () => firstTokens(30, () => askStreamed(model.url, 0), 1))
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

/** A measurement with and without capture, which take turns so that both see the same machine. */
async function compare(rounds: number, tracer: Tracer, measure: () => Promise<number>) {
  const bare: number[] = []
  const captured: number[] = []
  await measure()
  for (let round = 0; round < rounds; round++) {
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
  return { bare: percentile(bare, QUIET), captured: percentile(captured, QUIET) }
}

async function processorTime(calls: number, ask: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let call = 0; call < calls; call++) await ask()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

/** The median time to the first token, in milliseconds. */
async function firstTokens(calls: number, ask: () => Promise<number>, parallel: number): Promise<number> {
  const times: number[] = []
  for (let call = 0; call < calls; call += parallel)
    times.push(...(await Promise.all(Array.from({ length: parallel }, ask))))
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

async function askWhole(url: string): Promise<unknown> {
  return (await post(url, {})).json()
}

/** Reads a whole stream; milliseconds to its first piece. Pieces come one by one if the model takes its time. */
async function askStreamed(url: string, thinkMs?: number): Promise<number> {
  const start = performance.now()
  const response = await post(url, { stream: true, ...(thinkMs !== undefined && { seed: thinkMs }) })
  let firstMs: number | undefined
  for await (const _chunk of response.body!) firstMs ??= performance.now() - start
  return firstMs ?? Number.NaN
}

/** In a process of its own: its work must not count as ours. */
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
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { url, process: child }
}
