import { wordsOf } from '../session/problem.ts'
import type { Effect } from '../session/step.ts'

const readVerbs = new Set(
  `get find list search fetch read look lookup check calculate compute query describe count view show retrieve load
  classify extract select open browse visit scrape validate verify summarize summarise analyze analyse inspect
  compare filter sort parse detect estimate preview resolve translate rank embed grep download
  run execute python shell bash terminal computer code evaluate is has can web google bing wikipedia`.split(
    /\s+/,
  ),
)
const writeVerbs = new Set(
  `create update delete remove modify change cancel return exchange refund send write post put patch insert add set book
  reserve order pay charge transfer submit publish approve reject close reopen assign issue notify email mail message
  register deploy start stop restart upload save store schedule grant revoke commit merge edit rename move copy archive
  subscribe unsubscribe escalate release apply confirm`.split(/\s+/),
)

/** Whether an action reads or writes, guessed from its name. Undefined if the name says neither. */
export function guessEffect(name: string): Effect | undefined {
  const verb = wordsOf(name).find((word) => readVerbs.has(word) || writeVerbs.has(word))
  if (verb === undefined) return undefined
  return writeVerbs.has(verb) ? 'write' : 'read'
}
