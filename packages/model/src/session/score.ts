/** Who gave a score: a person, a program, a model that judged, or the user of the agent. */
export const scoreSources = ['person', 'code', 'model', 'user'] as const
export type ScoreSource = (typeof scoreSources)[number]

/** A number, yes or no, or a word. */
export type ScoreValue = number | boolean | string

/** What somebody or something thought of a session or of one of its steps. */
export type Score = {
  id: string
  name: string
  value: ScoreValue
  source: ScoreSource
  comment?: string
  /** The step it is about; absent for the whole session. */
  stepId?: string
  at: string
}

/** A score as a span or a log record brings it. */
export type ScoreDraft = Omit<Score, 'at'> & {
  atMs: number
  /** Names the step by the id of its model's response, where the sender did not know the span. */
  responseId?: string
}

/** The name of the score that people give on the replay page. */
export const VERDICT = 'verdict'
export const verdicts = ['right', 'wrong', 'unsure'] as const
export type Verdict = (typeof verdicts)[number]

export const MAX_SCORE_NAME = 100
export const MAX_SCORE_WORD = 200
export const MAX_SCORE_COMMENT = 4_000

/** The value as a number: yes is 1, no is 0; null for a word. */
export function scoreNumber(value: ScoreValue): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'boolean' ? Number(value) : null
}

/** "0.8", "yes", "wrong". */
export function showScore(value: ScoreValue): string {
  if (typeof value === 'number') return String(Math.round(value * 1000) / 1000)
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value
}

/**
 * The scores that count for a session, given all of them newest first: one of each name, in order of their names. A score
 * of the session counts before those of its steps; of several the newest counts.
 */
export function countingScores(scores: readonly Score[]): Score[] {
  const counting = new Map<string, Score>()
  for (const score of scores) {
    const known = counting.get(score.name)
    if (known === undefined || (known.stepId !== undefined && score.stepId === undefined))
      counting.set(score.name, score)
  }
  return [...counting.values()].sort((left, right) => (left.name < right.name ? -1 : 1))
}
