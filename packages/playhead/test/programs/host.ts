import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import * as playhead from 'playhead'

/**
 * node host.ts <with|without> <how it ends>: does everything that an SDK in the same process could break. It prints what
 * it observes, which must not depend on whether it is recorded.
 */
const [guest, end = 'normally'] = process.argv.slice(2)
const isRecorded = guest === 'with'

type AnyFunction = (...args: never[]) => unknown
const wrap = <Fn extends AnyFunction>(name: string, fn: Fn): Fn =>
  isRecorded ? playhead.recordAction(name, fn) : fn
const inSession = <Result>(fn: () => Result): Result =>
  isRecorded ? playhead.withSession({ name: 'host' }, fn) : fn()

if (isRecorded) playhead.init({ capture: false })

const seen: Record<string, unknown> = {}

await inSession(async () => {
  await values()
  await failures()
  await streams()
})
seen.events = await events()
process.stdout.write(`${JSON.stringify(seen, undefined, 1)}\n`)
finishAs(end)

async function values(): Promise<void> {
  const cyclic: Record<string, unknown> = { list: Array.from({ length: 50_000 }, (_, index) => ({ index })) }
  cyclic.self = cyclic
  let traps = 0
  // A promise reads `then` of the value that it is resolved with; the SDK's promise does so once more.
  const countTrap = (target: object, key: string | symbol) => {
    if (key !== 'then') traps += 1
    return Reflect.get(target, key) as unknown
  }
  const proxy = new Proxy({ a: 1 }, { get: countTrap })
  let getterCalls = 0
  const getter = {
    get costly() {
      getterCalls += 1
      throw new Error('a getter that throws')
    },
  }
  class Account {
    #secret = 1
    read() {
      return this.#secret
    }
  }
  const odd: [string, unknown][] = [
    ['cyclic', cyclic],
    ['proxy', proxy],
    ['big', 12n],
    ['getter', getter],
    ['map', new Map([[{}, 1]])],
    ['account', new Account()],
    ['symbol', Symbol.for('s')],
    ['function', () => 1],
    ['frozen', Object.freeze({ then: undefined })],
    ['typed', new Float64Array(1000)],
    ['weak', new WeakRef({})],
    ['date', new Date(Number.NaN)],
  ]
  for (const [name, value] of odd) {
    const pass = wrap(`pass_${name}`, (given: unknown) => given)
    const passLater = wrap(`later_${name}`, async (given: unknown) => given)
    seen[name] = [pass(value) === value, (await passLater(value)) === value]
  }
  seen.traps = traps
  seen.getterCalls = getterCalls
  seen.private = wrap('read', new Account().read.bind(new Account()))()
  seen.arity = wrap('arity', (_a: unknown, _b: unknown) => 1).length
}

async function failures(): Promise<void> {
  const error = Object.assign(new Error('mine'), { code: 'E_MINE' })
  const { stack } = error
  for (const thrown of [error, 'text', undefined, { a: 1 }, null]) {
    const name = `thrown ${String(thrown)}`
    const fail = wrap('fail', () => {
      throw thrown
    })
    const failLater = wrap('fail_later', async () => {
      null
      throw thrown
    })
    try {
      fail()
    } catch (caught) {
      seen[name] = [caught === thrown]
    }
    await failLater().catch((caught: unknown) => (seen[name] as unknown[]).push(caught === thrown))
  }
  seen.stack = error.stack === stack
  seen.keys = Object.keys(error)
}

async function streams(): Promise<void> {
  const readable = wrap('open', () => Readable.from(['a', 'b', 'c']))()
  let text = ''
  for await (const chunk of readable) text += String(chunk)
  const web = wrap('fetch', () => new Response('body'))()
  const numbers = wrap('numbers', function* () {
    yield 1
    yield 2
  })()
  seen.streams = [text, await web.text(), [...numbers]]
  const timed = await Promise.all(
    [1, 2, 3].map((value) => wrap('wait', async () => (await sleep(5), value))()),
  )
  seen.timed = timed
}

function events(): Promise<unknown> {
  const emitter = new EventEmitter()
  const heard: string[] = []
  emitter.on(
    'word',
    wrap('hear', (word: string) => heard.push(word)),
  )
  emitter.emit('word', 'one')
  emitter.emit('word', 'two')
  return Promise.resolve([
    heard,
    process.listenerCount('uncaughtException'),
    process.listenerCount('unhandledRejection'),
  ])
}

function finishAs(way: string): void {
  switch (way) {
    case 'exit code':
      process.exitCode = 7
      return
    case 'exit':
      process.exit(9)
    case 'throw':
      setTimeout(() => {
        wrap('fatal', () => {
          throw new Error('fatal')
        })()
      }, 1)
      return
    case 'unhandled rejection':
      void wrap('rejecting', async () => {
        throw new Error('nobody listens')
      })()
      return
    case 'handled elsewhere':
      process.on('uncaughtException', (error) => {
        process.stdout.write(`handled ${error.message}\n`)
        process.exitCode = 4
      })
      setTimeout(() => {
        throw new Error('for the handler')
      }, 1)
      return
    default:
  }
}
