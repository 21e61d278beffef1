import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { runEnvironment } from '../../src/runtime/run-settings.ts'

const preload = fileURLToPath(new URL('../../src/rerun/preload.ts', import.meta.url))

test('worker threads and Node programs of a strict run are behind the wall', async () => {
  const reached: (string | undefined)[] = []
  const server = createServer((request, response) => {
    reached.push(request.url)
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const ask = `fetch(${JSON.stringify(url)}).then((response) => response.json()).then(({ error }) => error.message)`
  const program = `
    const { Worker } = require('node:worker_threads')
    const { once } = require('node:events')
    const { execFileSync } = require('node:child_process')
    const inWorker = "${ask.replaceAll('"', "'")}.then((text) => require('node:worker_threads').parentPort.postMessage(text))"
    const inChild = "${ask.replaceAll('"', "'")}.then(console.log)"
    void (async () => {
      const worker = new Worker(inWorker, { eval: true })
      const [fromWorker] = await once(worker, 'message')
      const fromChild = execFileSync(process.execPath, ['-e', inChild], { env: { PATH: process.env.PATH }, encoding: 'utf8' })
      let refused
      try { execFileSync('curl', [${JSON.stringify(url)}]) } catch (error) { refused = error.code }
      console.log(JSON.stringify({ here: await ${ask}, fromWorker, fromChild: fromChild.trim(), refused }))
    })()`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--conditions=playhead-source',
      '--disable-warning=ExperimentalWarning',
      '--require',
      preload,
      '-e',
      program,
    ],
    { env: { PATH: process.env.PATH, ...runEnvironment({ isStrict: true, allowSpawn: ['node'] }) } },
  )
  const only =
    'made a request, and only the run itself is answered from the tape. Record what starts it with recordTool.'
  expect(JSON.parse(stdout)).toEqual({
    here: `A process outside of the run ${only}`,
    fromWorker: `A worker thread ${only}`,
    fromChild: `A process outside of the run ${only}`,
    refused: 'ERR_PLAYHEAD_REFUSED',
  })
  expect(reached).toEqual([])
})
