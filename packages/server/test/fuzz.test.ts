import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCorpus } from './fuzz/corpus.ts'
import { Fuzzer, type Violation } from './fuzz/fuzz-batch.ts'
import { makeCases } from './fuzz/fuzz-case.ts'
import { makeGrpcCases } from './fuzz/grpc-cases.ts'
import { SpawnedServer } from './spawned-server.ts'

/** A sample of what `npm run fuzz` does. */
const SEED = Number(process.env.FUZZ_SEED ?? 1)
const REQUESTS = 500
const BATCH = 500

let server: SpawnedServer
let fuzzer: Fuzzer

beforeAll(async () => {
  server = await SpawnedServer.create({ PLAYHEAD_GRPC_PORT: '0' })
  await server.start()
  fuzzer = new Fuzzer(server.url)
  fuzzer.grpcAddress = server.grpcAddress()
})
afterAll(async () => {
  fuzzer.close()
  await server.remove()
})

const problemsOf = (violations: Violation[]) =>
  violations.map(({ case: one, problem }) => `${one.what}: ${problem}`)

test('earlier failures stay fixed', async () => {
  const corpus = readCorpus()
  if (corpus.length > 0) expect(problemsOf(await fuzzer.run(corpus))).toEqual([])
  expect(server.isAlive()).toBe(true)
})

test(`${REQUESTS} generated and damaged requests break no guarantee (reproduce with FUZZ_SEED=${SEED})`, async () => {
  for (let batch = 0; batch < REQUESTS / BATCH; batch++)
    expect(problemsOf(await fuzzer.run(makeCases(SEED, batch, BATCH)))).toEqual([])

  expect(fuzzer.spansAcknowledged).toBeGreaterThan(100)
  expect(fuzzer.spansReadBack).toBeGreaterThan(10)
  expect(Object.keys(Object.fromEntries(fuzzer.statuses))).toEqual(expect.arrayContaining(['200', '400']))
  expect(server.isAlive()).toBe(true)
  expect(server.unexpectedLines()).toEqual([])
})

test(`${REQUESTS} generated and damaged gRPC calls break no guarantee (reproduce with FUZZ_SEED=${SEED})`, async () => {
  const before = { acknowledged: fuzzer.spansAcknowledged, readBack: fuzzer.spansReadBack }
  for (let batch = 0; batch < REQUESTS / BATCH; batch++)
    expect(problemsOf(await fuzzer.run(makeGrpcCases(SEED, batch, BATCH)))).toEqual([])

  expect(fuzzer.spansAcknowledged - before.acknowledged).toBeGreaterThan(100)
  expect(fuzzer.spansReadBack - before.readBack).toBeGreaterThan(10)
  expect(server.isAlive()).toBe(true)
  expect(server.unexpectedLines()).toEqual([])
})
