import type { Session } from '../src/session/session.ts'
import type { Step } from '../src/session/step.ts'
import { readScenarios } from './planted-faults.ts'
import type { Random } from './random.ts'

export type LongSessionOptions = {
  steps: number
  /** The shares of steps that are dropped and of those that return something else. */
  dropped?: number
  changed?: number
  /** Everything on one level. */
  isFlat?: boolean
}

/** A long session that repeats what the example agent did, each round with another customer. */
export function makeLongSession(random: Random, options: LongSessionOptions): Session {
  const { steps: wanted, dropped = 0, changed = 0, isFlat = false } = options
  const [{ session, steps } = { session: undefined, steps: [] }] = readScenarios()
    .filter(({ name }) => name === 'refund')
    .map((scenario) => scenario.session)
  const root: Step = { ...steps[0]!, id: random.hex(16), durationMs: wanted * 10 }
  const made: Step[] = [root]
  for (let round = 0; made.length < wanted; round += 1) {
    const ids = new Map(steps.map(({ id }) => [id, random.hex(16)]))
    ids.set(steps[0]!.id, root.id)
    for (const step of steps.slice(1)) {
      if (made.length >= wanted) break
      const content = JSON.parse(JSON.stringify(step).replaceAll('c_42', `c_${round + 100}`)) as Step
      content.id = ids.get(step.id)!
      content.parentId = isFlat ? root.id : (ids.get(step.parentId ?? '') ?? root.id)
      content.offsetMs = made.length * 10
      content.durationMs = 5
      if (random.chance(changed)) change(content, random)
      if (!random.chance(dropped)) made.push(content)
    }
  }
  return { session: { ...session!, id: random.hex(32) }, steps: made }
}

function change(step: Step, random: Random): void {
  if (step.tool === undefined)
    step.messages = [{ role: 'user', parts: [{ type: 'text', text: random.sentence() }] }]
  else
    step.tool = { name: step.tool.name, arguments: { asked: random.sentence() }, result: random.sentence() }
}
