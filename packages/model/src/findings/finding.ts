/** What each kind of finding means, as the API and the docs say it. */
export const findingKinds = {
  error:
    'A step failed. Blamed on the step that caused it: the one that wrote the arguments, or changed what the failed step needed.',
  'ignored-error':
    'An action failed, nothing retried, mentioned or replaced it, and the session went on as if it had worked.',
  'bad-argument':
    'An action got a null, empty, placeholder or invented value, arguments that break its schema, or it does not exist.',
  loop: 'The same call with the same result, two calls in turn, or nearly the same message, over and over.',
  'fail-plausible':
    'Nothing was found or returned, and the answer states values that appear nowhere before it.',
  'claim-without-act':
    'The agent says that it did something that no action did, or works with an assumption.',
  'cut-short':
    'The session or a reply stopped before it was complete: token limit, turn limit, filter, timeout, lost process.',
  divergence:
    'The first change, or the first read, that differs from a session that passed, or from what the user asked for.',
  outlier: 'Cost, duration or number of steps far outside what sessions of the same name take.',
} as const

export type FindingKind = keyof typeof findingKinds

/** Where to look: a value of a step. `path` is empty for the whole step. */
export type FindingEvidence = { stepId: string; path: string; text: string }

/** Something that is wrong with a session, blamed on one step. */
export type Finding = {
  kind: FindingKind
  stepId: string
  /** From 0 to 1: how much the finding counts. */
  weight: number
  sentence: string
  evidence: FindingEvidence[]
}

/** A step that probably made the session go wrong. `findings` are positions in the list of findings. */
export type Suspect = { stepId: string; agent: string | null; sentence: string; findings: number[] }

/** What went wrong in a session. `suspects` has at most three steps, the most likely first, and none if all is well. */
export type Findings = { findings: Finding[]; suspects: Suspect[] }

/** What a detector returns: a finding before it is weighed. `strength` is from 0 to 1. */
export type Clue = {
  rule: Rule
  /** The step that is blamed. */
  stepId: string
  /** The step where it shows, if that is another one: the one that failed because of the blamed step. */
  shownAt?: string
  strength: number
  sentence: string
  evidence: FindingEvidence[]
}

/**
 * What a rule counts. `blame`: how much it says about the step when a session is known to have failed, in log-odds.
 * `alarm`: how sure it is that something went wrong when the session says that it succeeded; 0 for rules that
 * also fit healthy sessions.
 */
export type RuleWeight = { blame: number; alarm: number }

export const rules = {
  'error/fatal': { blame: 2.2, alarm: 0.9 },
  'error/failed-call': { blame: 1.1, alarm: 0 },
  'error/obstacle': { blame: 0.7, alarm: 0 },
  'error/blocked-later': { blame: 1.6, alarm: 0 },
  'error/regretted': { blame: 1.2, alarm: 0 },
  'ignored-error/unnoticed': { blame: 2.4, alarm: 0.7 },
  'bad-argument/empty': { blame: 2, alarm: 0.8 },
  'bad-argument/placeholder': { blame: 1.2, alarm: 0.7 },
  'bad-argument/invented': { blame: 1, alarm: 0.6 },
  'bad-argument/schema': { blame: 1.2, alarm: 0.6 },
  'bad-argument/unknown-tool': { blame: 1.5, alarm: 0.8 },
  'bad-argument/unusable': { blame: 2.2, alarm: 0 },
  'bad-argument/off-topic': { blame: 2.6, alarm: 0 },
  'loop/same-result': { blame: 2, alarm: 0.9 },
  'loop/alternating': { blame: 1.6, alarm: 0.7 },
  'loop/same-words': { blame: 0.8, alarm: 0.4 },
  'fail-plausible/invented-answer': { blame: 1.8, alarm: 0.7 },
  'fail-plausible/answer-origin': { blame: 1.8, alarm: 0 },
  'fail-plausible/unsourced': { blame: 0.2, alarm: 0 },
  'fail-plausible/miscounted': { blame: 2.4, alarm: 0.6 },
  'fail-plausible/denied': { blame: 2, alarm: 0.4 },
  'fail-plausible/unsupported': { blame: 2, alarm: 0.4 },
  'fail-plausible/wrong-state': { blame: 2.4, alarm: 0 },
  'fail-plausible/empty-result': { blame: 0.8, alarm: 0 },
  'claim-without-act/undone': { blame: 1.8, alarm: 0.8 },
  'claim-without-act/pretended': { blame: 0.6, alarm: 0 },
  'claim-without-act/assumption': { blame: 0.6, alarm: 0 },
  'claim-without-act/left-out': { blame: 2, alarm: 0 },
  'cut-short/reply': { blame: 2.2, alarm: 0.8 },
  'cut-short/session': { blame: 1, alarm: 0.8 },
  'divergence/effect': { blame: 2.6, alarm: 0 },
  'divergence/read': { blame: 1, alarm: 0 },
  'divergence/unusual': { blame: 0.8, alarm: 0 },
  'divergence/objected': { blame: 1.4, alarm: 0 },
  'divergence/first-act': { blame: 0.8, alarm: 0 },
  'divergence/last-act': { blame: 0.6, alarm: 0 },
  'outlier/far': { blame: 0.5, alarm: 0.6 },
} as const satisfies Record<`${FindingKind}/${string}`, RuleWeight>

export type Rule = keyof typeof rules

export type RuleWeights = Readonly<Record<Rule, RuleWeight>>

export function kindOf(rule: Rule): FindingKind {
  return rule.slice(0, rule.indexOf('/')) as FindingKind
}

/** What a finding must weigh to be said aloud. Less only tells where to look first. */
const LEAST_NAMED_WEIGHT = 0.6

/** The suspects that evidence speaks against, without those that are only the likeliest places. */
export function namedSuspects({ findings, suspects }: Findings): Suspect[] {
  return suspects.filter((suspect) => (findings[suspect.findings[0]!]?.weight ?? 0) >= LEAST_NAMED_WEIGHT)
}
