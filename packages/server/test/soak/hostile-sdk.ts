import * as playhead from '../../../playhead/src/index.ts'

// A program that records values which can't be encoded beside innocent sessions. When its parent disconnects or asks for
// it, it sends what is left and prints the ids of the innocent sessions. Each of them has four steps.

const PAUSE_MS = 50

const ids: string[] = []
const act = playhead.recordAction('act', (text: string) => text)
const revocable = Proxy.revocable({}, {})
revocable.revoke()
const badNames: unknown[] = [
  4711,
  Symbol('name'),
  10n ** 50n,
  { toString: null },
  revocable.proxy,
  [[]],
  '\uD800',
]

playhead.init({
  endpoint: process.env.PLAYHEAD_ENDPOINT!,
  apiKey: process.env.PLAYHEAD_API_KEY,
  capture: false,
})
const timer = setInterval(recordBoth, PAUSE_MS)
process.on('message', () => void finish())

function recordBoth(): void {
  const name = badNames[ids.length % badNames.length] as string
  playhead.withSession({ name, tags: [name], metadata: { name } }, () => {
    playhead.recordAction(name, () => name)()
    playhead.record(new playhead.ActionEvent({ actionType: name, startedAt: name as unknown as number }))
  })
  ids.push(
    playhead.withSession({ name: `innocent ${ids.length}` }, (session) => {
      for (const text of ['a', 'b', 'c']) act(text)
      return session.id
    }),
  )
}

async function finish(): Promise<void> {
  clearInterval(timer)
  // The server may be restarting.
  for (let attempt = 0; attempt < 60; attempt += 1) if (await playhead.flush({ timeoutMs: 1000 })) break
  process.send!({ ids, stats: playhead.stats() }, () => process.disconnect())
}
