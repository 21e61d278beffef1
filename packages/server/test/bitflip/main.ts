import { parseArgs } from 'node:util'
import { flipBits } from './flip-bits.ts'

const USAGE = `npm run bitflip -- [--flips 2000] [--seed 1]

Fills a log and a store with a real server, then flips bits in their files, one at a time, and compares everything that is
returned with what was acknowledged. Half of the flips hit the log, read by the log's own reader. Most others hit the parts of
the tables: the engine stays up, and each table is detached, damaged and attached. One in forty starts a whole server.
"No start" means that the server or the table could not be opened, which is reported by itself.`

const { values } = parseArgs({
  options: {
    flips: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else process.exitCode = (await run(Number(values.flips), Number(values.seed))) ? 0 : 1

async function run(flips: number, seed: number): Promise<boolean> {
  const [log, servers] = [Math.floor(flips / 2), Math.ceil(flips / 40)]
  const { spans, counts, noStarts, violations } = await flipBits(
    { log, servers, store: flips - log - servers },
    { seed, sessions: 30, onProgress: (done) => done % 50 === 0 && console.error(`${done} of ${flips}`) },
  )
  console.log(`${spans} spans, ${flips} flips`)
  for (const [outcome, count] of [...counts].toSorted(([left], [right]) => left.localeCompare(right)))
    console.log(`${String(count).padStart(6)}  ${outcome}`)
  for (const line of [...noStarts, ...violations]) console.log(line)
  return violations.length === 0
}
