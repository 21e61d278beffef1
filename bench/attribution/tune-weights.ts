import { rules, type Rule, type RuleWeights } from '../../packages/model/src/findings/finding.ts'

/** A step that may be blamed: how strongly each rule does. */
export type Candidate = { stepId: string; strengths: Partial<Record<Rule, number>> }

/** One labelled run, as the weights see it. `label` is the position of the blamed candidate, or -1. */
export type Example = { set: string; candidates: readonly Candidate[]; label: number }

const ROUNDS = 400
const RATE = 0.01
/** How strongly weights are drawn back to those that the rules ship with. */
const PULLS = [2, 8, 32, 128]
/** Every set counts as many runs. */
const RUNS_PER_SET = 50

/** Tunes the weights on examples of several sets. The sets themselves choose the pull: each is predicted from the others. */
export function tuneWeights(examples: readonly Example[]): { weights: RuleWeights; pull: number } {
  const usable = examples.filter(({ label }) => label >= 0)
  const sets = [...new Set(usable.map(({ set }) => set))]
  const likelihoodOf = (pull: number) =>
    sets.reduce((sum, set) => {
      const blame = maximize(
        usable.filter((example) => example.set !== set),
        pull,
      )
      const tested = usable.filter((example) => example.set === set)
      return sum + tested.reduce((total, example) => total + logChance(example, blame), 0) / tested.length
    }, 0)
  const [best] = PULLS.map((pull) => ({ pull, likelihood: likelihoodOf(pull) })).toSorted(
    (one, other) => other.likelihood - one.likelihood,
  )
  const { pull } = best!
  const blame = maximize(usable, pull)
  const weights = Object.fromEntries(
    ruleNames.map((rule) => [rule, { ...rules[rule], blame: blame.get(rule)! }]),
  ) as RuleWeights
  return { weights, pull }
}

const ruleNames = Object.keys(rules) as Rule[]

type Blame = ReadonlyMap<Rule, number>

/**
 * The probability of a step is the softmax of the sum of its rules' weights. Gradient ascent maximises the log likelihood of
 * the labels, less a quadratic penalty that keeps weights near the shipped ones.
 */
function maximize(examples: readonly Example[], pull: number): Blame {
  const blame = new Map(ruleNames.map((rule) => [rule, rules[rule].blame as number]))
  const perSet = new Map(
    [...Map.groupBy(examples, ({ set }) => set)].map(([set, { length }]) => [set, length]),
  )
  const rate = Math.min(RATE, 1 / (2 * pull))
  for (let round = 0; round < ROUNDS; round += 1) {
    const gradient = new Map(ruleNames.map((rule) => [rule, -pull * (blame.get(rule)! - rules[rule].blame)]))
    for (const { set, candidates, label } of examples) {
      const share = RUNS_PER_SET / perSet.get(set)!
      const chances = chancesOf(candidates, blame)
      for (const [index, { strengths }] of candidates.entries()) {
        const error = (index === label ? 1 : 0) - chances[index]!
        for (const rule of Object.keys(strengths) as Rule[])
          gradient.set(rule, gradient.get(rule)! + share * error * strengths[rule]!)
      }
    }
    for (const rule of ruleNames) blame.set(rule, Math.max(0, blame.get(rule)! + rate * gradient.get(rule)!))
  }
  return blame
}

function logChance({ candidates, label }: Example, blame: Blame): number {
  return Math.log(chancesOf(candidates, blame)[label]!)
}

function chancesOf(candidates: readonly Candidate[], blame: Blame): number[] {
  return softmax(candidates.map(({ strengths }) => score(strengths, blame)))
}

function score(strengths: Candidate['strengths'], blame: Blame): number {
  return (Object.keys(strengths) as Rule[]).reduce(
    (sum, rule) => sum + strengths[rule]! * blame.get(rule)!,
    0,
  )
}

function softmax(scores: readonly number[]): number[] {
  const highest = Math.max(...scores)
  const powers = scores.map((value) => Math.exp(value - highest))
  const total = powers.reduce((sum, power) => sum + power, 0)
  return powers.map((power) => power / total)
}
