import { readFileSync } from 'node:fs'
import { createRedactor, readCassette, writeCassette } from '@playhead/model'
import { setTape } from '../../../../packages/playhead/src/record/session/active-tape.ts'
import { CassetteTape } from '../../../../packages/playhead/src/tape/cassette-tape.ts'
import { playTape } from '../../../../packages/playhead/src/tape/play-tape.ts'

/** Runs `same-agent.ts` from a cassette, and prints what the cassette lacked and what was not asked for. */
const text = readFileSync(process.argv[2]!, 'utf8')
const redactor = createRedactor()
const content = {
  content: true,
  maxValueBytes: 1024 * 1024,
  redactText: (value: string) => redactor.text(value, 'text'),
  isSecretKey: (key: string) => redactor.isSecretKey(key),
}
const tape = new CassetteTape(readCassette(text), { mode: 'strict', content })
setTape(() => tape)
const playing = playTape(tape)
await import('./same-agent.ts')
playing.stop()
setTape(undefined)
const misses = tape.misses.map(({ sentence }) => sentence)
const isSame = writeCassette(readCassette(text)) === text
process.stdout.write(`${JSON.stringify({ misses, unused: tape.unused.length, isSame })}\n`)
