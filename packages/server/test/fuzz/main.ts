import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { SpawnedServer } from '../spawned-server.ts'
import { addToCorpus } from './corpus.ts'
import { Fuzzer } from './fuzz-batch.ts'
import { makeCases } from './fuzz-case.ts'
import { makeGrpcCases } from './grpc-cases.ts'

const USAGE = `npm run fuzz -- [--requests 100000] [--seed 1] [--over http|grpc] [--read-back-every 6] [--state fuzz-state.json]

Sends generated and damaged OTLP requests and API queries (--over grpc: OTLP/gRPC calls) to its own server, and checks the guarantees of the server:
it stays alive, answers bad input with a 4xx, counts what it stores and rejects, and returns what was sent.
All stored spans are counted, and one request in --read-back-every is read back and compared; that takes most of the time.
The same seed produces the same requests. With --state, an interrupted run continues where it stopped.
Requests that violate a guarantee are saved in packages/server/test/fuzz/corpus, and the tests send them again.`

type State = { seed: number; requests: number; spans: number; readBack: number; violations: string[] }

const BATCH = 500
const MAX_VIOLATIONS = 20
const PROGRESS_EVERY_MS = 10_000
/** A large store makes queries slow and finds no more bugs. */
const FRESH_STORE_EVERY = 50_000

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    over: { type: 'string', default: 'http' },
    'read-back-every': { type: 'string', default: '6' },
    state: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else process.exitCode = (await fuzz()) ? 0 : 1

async function fuzz(): Promise<boolean> {
  const [wanted, seed] = [Number(values.requests), Number(values.seed)]
  const state = readState(seed)
  let server = await startFresh()
  const fuzzer = new Fuzzer(server.url)
  fuzzer.readBackEvery = Number(values['read-back-every'])
  fuzzer.grpcAddress = server.grpcAddress()
  const make = values.over === 'grpc' ? makeGrpcCases : makeCases
  let reportedAtMs = 0
  const startedAtMs = performance.now()
  const before = state.requests
  try {
    while (state.requests < wanted && state.violations.length < MAX_VIOLATIONS) {
      const [spans, readBack] = [fuzzer.spansAcknowledged, fuzzer.spansReadBack]
      const count = Math.min(BATCH, wanted - state.requests)
      for (const violation of await fuzzer.run(make(seed, state.requests / BATCH, count)))
        state.violations.push(`${violation.problem.slice(0, 300)} (${addToCorpus(violation)})`)
      state.requests += count
      state.spans += fuzzer.spansAcknowledged - spans
      state.readBack += fuzzer.spansReadBack - readBack
      if (values.state !== undefined) writeFileSync(values.state, JSON.stringify(state))
      if (!server.isAlive()) {
        state.violations.push(`the server exited: ${server.unexpectedLines().join('\n').slice(0, 1_000)}`)
        await server.start()
        fuzzer.grpcAddress = server.grpcAddress()
      }
      if (state.requests % FRESH_STORE_EVERY === 0) {
        noteLines(server, state)
        await server.remove()
        server = await startFresh()
        fuzzer.url = server.url
        fuzzer.grpcAddress = server.grpcAddress()
      }
      if (performance.now() - reportedAtMs < PROGRESS_EVERY_MS) continue
      reportedAtMs = performance.now()
      const rate = ((state.requests - before) * 1_000) / (reportedAtMs - startedAtMs)
      console.error(
        `${state.requests.toLocaleString('en-US')} of ${wanted.toLocaleString('en-US')} requests, ${Math.round(rate)} per second, ${state.violations.length} violations`,
      )
    }
    noteLines(server, state)
  } finally {
    fuzzer.close()
    await server.remove()
  }
  print(state, fuzzer)
  return state.violations.length === 0
}

async function startFresh(): Promise<SpawnedServer> {
  const server = await SpawnedServer.create({ PLAYHEAD_GRPC_PORT: '0' })
  await server.start()
  return server
}

function noteLines(server: SpawnedServer, state: State): void {
  const lines = server.unexpectedLines()
  if (lines.length > 0) state.violations.push(`the server printed: ${lines.join('\n').slice(0, 1_000)}`)
}

function readState(seed: number): State {
  if (values.state !== undefined && existsSync(values.state)) {
    const state = JSON.parse(readFileSync(values.state, 'utf8')) as State
    if (state.seed === seed) return { ...state, violations: [] }
  }
  return { seed, requests: 0, spans: 0, readBack: 0, violations: [] }
}

function print(state: State, { statuses }: Fuzzer): void {
  const responses = [...statuses].toSorted(([left], [right]) => left - right)
  console.log(`seed ${state.seed}: ${state.requests.toLocaleString('en-US')} requests`)
  console.log(`  spans acknowledged  ${state.spans.toLocaleString('en-US')}`)
  console.log(
    `  spans read back     ${state.readBack.toLocaleString('en-US')}, each identical to what was sent`,
  )
  console.log(
    `  responses           ${responses.map(([status, count]) => `${count} × ${status}`).join(', ')}`,
  )
  console.log(`  violations          ${state.violations.length}`)
  for (const violation of state.violations) console.log(`    ${violation}`)
}
