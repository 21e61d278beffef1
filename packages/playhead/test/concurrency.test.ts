import { EventEmitter, on, once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import * as playhead from '../src/index.ts'

beforeAll(() => playhead.init({ endpoint: false, capture: false, keepSessions: 1000 }))

const note = playhead.recordAction('note', (owner: number, where: string) => `${owner} ${where}`)
const tool = playhead.recordTool('tool', async (owner: number) => {
  await sleep(owner % 7)
  note(owner, 'inside a tool')
  return owner
})
const helper = playhead.agent('helper', async (owner: number) => {
  await nextTurn()
  await Promise.all([tool(owner), tool(owner)])
})

/** A queue that was created before any session and is shared by all of them. */
const queue = new EventEmitter()
queue.setMaxListeners(0)

/** Every kind of async hop: promises, timers, ticks, streams, emitters, generators. */
async function work(owner: number): Promise<void> {
  note(owner, 'at once')
  await nextTurn()
  await Promise.all([tool(owner), helper(owner), sleep(owner % 5).then(() => note(owner, 'then'))])
  await new Promise<void>((resolve) => {
    setTimeout(() => {
      note(owner, 'in a timer')
      setImmediate(() => {
        note(owner, 'in an immediate')
        process.nextTick(() => {
          note(owner, 'in a tick')
          queueMicrotask(() => {
            note(owner, 'in a microtask')
            resolve()
          })
        })
      })
    }, owner % 11)
  })
  await pipeThrough(owner)
  await listen(owner)
  for await (const value of generate(owner)) note(owner, `generated ${value}`)
  const slow = tool(owner)
  await Promise.allSettled([failing(owner), Promise.race([slow, sleep(1)])])
  await slow
}

async function pipeThrough(owner: number): Promise<void> {
  const stream = new PassThrough()
  stream.on('data', () => note(owner, 'in a stream'))
  stream.write('chunk')
  await sleep(owner % 3)
  stream.end('last')
  await once(stream, 'end')
}

async function listen(owner: number): Promise<void> {
  const own = new EventEmitter()
  own.on('ping', () => note(owner, 'in a listener'))
  own.emit('ping')
  const answered = once(queue, `answer ${owner}`)
  queue.emit('ask', owner)
  await answered
  note(owner, 'after the queue')
  const controller = new AbortController()
  setTimeout(() => own.emit('pong'), 1)
  for await (const _ of on(own, 'pong', { signal: controller.signal })) {
    note(owner, 'in an async iterator')
    break
  }
}

async function* generate(owner: number): AsyncGenerator<number> {
  for (let index = 0; index < 2; index += 1) {
    await sleep(owner % 2)
    note(owner, 'in a generator')
    yield index
  }
}

const failing = playhead.recordAction('failing', async (owner: number) => {
  await nextTurn()
  note(owner, 'before a failure')
  throw new Error(`of ${owner}`)
})

queue.on('ask', (owner: number) => setTimeout(() => queue.emit(`answer ${owner}`), owner % 4))

/** The owners that the steps of a session name: exactly one, if no step is in the wrong session. */
function ownersIn(session: playhead.SessionView): unknown[] {
  const owners = session.actionEvents.map(({ params }) => (params as { owner: number }).owner)
  return [...new Set(owners)]
}

const owners = Array.from({ length: 200 }, (_, index) => index)

describe.each<[string, (owner: number) => Promise<playhead.SessionView>]>([
  [
    'withSession',
    (owner) =>
      playhead.withSession({ name: `session ${owner}` }, async (session) => {
        await work(owner)
        return session
      }),
  ],
  [
    'startSession and endSession',
    async (owner) => {
      const session = playhead.startSession({ name: `session ${owner}` })
      await work(owner)
      await playhead.endSession('Success')
      return session
    },
  ],
  [
    'an outermost agent',
    (owner) =>
      playhead.agent(`session ${owner}`, async () => {
        await work(owner)
        return playhead.getSession()
      })(),
  ],
])('200 concurrent sessions by %s', (_, run) => {
  test('no step is in the wrong session, and none is missing', async () => {
    const alone = await run(1000)
    const sessions = await Promise.all(owners.map(run))
    expect(sessions.map((session) => [session.name, session.endState, ownersIn(session)])).toEqual(
      owners.map((owner) => [`session ${owner}`, 'success', [owner]]),
    )
    expect(new Set(sessions.map(({ steps }) => steps.length))).toEqual(new Set([alone.steps.length]))
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(200)
    for (const { steps } of sessions.slice(0, 20))
      expect(parentNames(steps)).toEqual(parentNames(alone.steps))
  })
})

/** Each step with its ancestors, in a fixed order. */
function parentNames(steps: readonly playhead.Step[]): string[] {
  const names = new Map(steps.map(({ id, name }) => [id, name.replace(/ \d+$/, '')]))
  return steps.map(({ id, parentId }) => `${names.get(id)} in ${names.get(parentId ?? '') ?? '-'}`).toSorted()
}
