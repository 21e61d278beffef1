import { Random } from '../../../../bench/corpus/random.ts'
import { headerCarriers, namedCarriers, textCarriers, type Carried } from './carriers.ts'
import { doors } from './doors.ts'
import { innocentKinds } from './innocent-texts.ts'
import { keyNames, namedFamilies, namedValue, plainFamilies } from './planted-secrets.ts'

/** One secret in its carrier, and the way by which it gets into a recording. */
export type Planted = { family: string; carrier: string; door: string; value: Carried; hidden: string }

export type Innocent = { kind: string; door: string; value: Carried; text: string }

/** Keys and patterns that the user's rules redact. */
export const userRules = ['ssn', 'customer_name', /\bINV-\d{8}\b/]

/** Every family in every carrier, `rounds` times, each time through another door. Deterministic for a seed. */
export function plantSecrets(seed: number, rounds: number): Planted[] {
  const random = new Random(seed)
  const nextDoor = takeTurns(Object.keys(doors))
  const planted: Planted[] = []
  const plant = (family: string, carrier: string, value: Carried, hidden: string) =>
    planted.push({ family, carrier, door: nextDoor(), value, hidden })
  for (let round = 0; round < rounds; round += 1) {
    for (const [family, make] of Object.entries(plainFamilies))
      for (const [carrier, carry] of Object.entries(textCarriers)) {
        const { text, hidden } = make(random)
        plant(family, carrier, carry(text, random), hidden)
      }
    for (const [family, names] of Object.entries(namedFamilies))
      for (const [carrier, carry] of Object.entries(namedCarriers)) {
        const hidden = namedValue(random)
        plant(family, carrier, carry(random.pick(names), hidden), hidden)
      }
    for (const [carrier, carry] of Object.entries(headerCarriers)) {
      const hidden = namedValue(random)
      plant('header', carrier, carry(hidden), hidden)
    }
    for (const name of keyNames) plantKey('key of an object', name, random, plant)
  }
  return planted
}

/** Values that only the user's rules can recognize. */
export function plantForRules(seed: number, rounds: number): Planted[] {
  const random = new Random(seed)
  const nextDoor = takeTurns(Object.keys(doors))
  const planted: Planted[] = []
  const plant = (family: string, carrier: string, value: Carried, hidden: string) =>
    planted.push({ family, carrier, door: nextDoor(), value, hidden })
  for (let round = 0; round < rounds * 4; round += 1) {
    plantKey("key of the user's rules", random.pick(['ssn', 'SSN', 'customerName']), random, plant)
    const hidden = `INV-${String(random.below(1e8)).padStart(8, '0')}`
    plant("pattern of the user's rules", 'a sentence', `See ${hidden}, please.\n${hidden}`, hidden)
  }
  return planted
}

function plantKey(
  family: string,
  name: string,
  random: Random,
  plant: (family: string, carrier: string, value: Carried, hidden: string) => void,
): void {
  const carriers = ['an object', 'a stringified object', 'a twice stringified object'] as const
  for (const carrier of carriers) {
    const hidden = namedValue(random)
    plant(family, carrier, namedCarriers[carrier]!(name, hidden), hidden)
  }
}

export function plantInnocents(seed: number, rounds: number): Innocent[] {
  const random = new Random(seed)
  const nextDoor = takeTurns(Object.keys(doors))
  const ways: ((text: string) => Carried)[] = [
    (text) => text,
    (text) => `I mean ${text}, not the other.`,
    (text) => ({ found: [{ note: text }] }),
    (text) => JSON.stringify({ found: text }),
  ]
  const innocents: Innocent[] = []
  for (let round = 0; round < rounds; round += 1)
    for (const [kind, make] of Object.entries(innocentKinds)) {
      const text = make(random)
      innocents.push({ kind, door: nextDoor(), value: random.pick(ways)(text), text })
    }
  return innocents
}

/** Advances by a step that is coprime to most list lengths, so that every carrier meets every door. */
function takeTurns(names: readonly string[]): () => string {
  let turn = 0
  return () => names[(turn += 7) % names.length]!
}
