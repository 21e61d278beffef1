import { readFileSync, writeFileSync } from 'node:fs'
import { sessionsToCassette, writeCassette, type Session } from '@playhead/model'

/** Reads a stored session as JSON and writes it as a cassette: `session-to-cassette.ts <session> <cassette>`. */
const [, , source, target] = process.argv
const session = JSON.parse(readFileSync(source!, 'utf8')) as Session
const meta = { name: 'same agent', recordedAt: session.session.startedAt, playhead: '0.1.0' }
writeFileSync(target!, writeCassette(sessionsToCassette([session], meta)))
