import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { startOtlpSink, type Behaviour } from './otlp-sink.ts'
import { runProgram, type Outcome } from './run-program.ts'
import { temporaryFolder } from './temporary-folder.ts'

const ends = ['normally', 'exit code', 'exit', 'throw', 'unhandled rejection', 'handled elsewhere'] as const
const servers: [string, Behaviour | 'down'][] = [
  ['accepts', 'accept'],
  ['is down', 'down'],
  ['is slow', { status: 200, afterMs: 3000 }],
  ['never responds', 'never respond'],
  ['responds with 500', { status: 500 }],
  ['closes connections during the request', 'close while receiving'],
  ['closes connections during the response', 'close while responding'],
]

/** What the host prints, without the lines of the SDK, and how it ends. */
function visible({ stdout, stderr, exitCode, signal }: Outcome) {
  const lines = stderr.split('\n').filter((line) => !line.startsWith('playhead: '))
  // Node prints the source line before an error, and the stack contains the SDK.
  const from = lines.findIndex((line) => line.startsWith('Error: '))
  const errors = lines.slice(from === -1 ? 0 : from).filter((line) => !/^\s+at |^\s*$/.test(line))
  return { stdout, errors, exitCode, signal }
}

async function spooledIn(folder: string): Promise<string> {
  // There is no folder if nothing was spooled.
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  const texts = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
  )
  return texts.join()
}

const withoutUs = new Map<string, ReturnType<typeof visible>>()

beforeAll(async () => {
  await Promise.all(
    ends.map(async (end) =>
      withoutUs.set(end, visible(await runProgram('host', { args: ['without', end] }))),
    ),
  )
})

describe.concurrent.each(servers)('if the server %s', (_, behaviour) => {
  const someEnds =
    behaviour === 'accept' || behaviour === 'down' ? ends : (['normally', 'exit', 'throw'] as const)

  test.each(someEnds)('a host that ends by "%s" behaves as without the SDK', async (end) => {
    const sink = await startOtlpSink()
    const spool = await temporaryFolder()
    if (behaviour === 'down') await sink.stop()
    else sink.behaviour = behaviour
    const outcome = await runProgram('host', {
      args: ['with', end],
      environment: { PLAYHEAD_ENDPOINT: sink.url, PLAYHEAD_SPOOL: spool },
    })
    expect(visible(outcome)).toEqual(withoutUs.get(end))
    const ownLines = outcome.stderr.split('\n').filter((line) => line.startsWith('playhead: '))
    expect(ownLines.length).toBeLessThanOrEqual(1)
    // A machine that is too busy to send in the last second spools it.
    if (behaviour === 'accept')
      expect([...sink.names(), await spooledIn(spool)].join()).toContain('pass_cyclic')
    await sink.stop()
  })
})

describe.concurrent.each(servers.slice(1))('if the server %s and there is no spool', (_, behaviour) => {
  test('the host still ends', async () => {
    const sink = await startOtlpSink()
    if (behaviour === 'down') await sink.stop()
    else sink.behaviour = behaviour
    const outcome = await runProgram('host', {
      args: ['with', 'exit code'],
      environment: { PLAYHEAD_ENDPOINT: sink.url, PLAYHEAD_SPOOL: 'off' },
    })
    expect(visible(outcome)).toEqual(withoutUs.get('exit code'))
    await sink.stop()
  })
})
