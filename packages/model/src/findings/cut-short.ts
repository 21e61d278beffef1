import { ownsError } from '../session/failure.ts'
import { describeAbort } from '../session/aborted-stream.ts'
import type { Step } from '../session/step.ts'
import { capitalize, evidenceAt, nameTurn, toBareTurn, toClue } from './clue.ts'
import { errorText } from './error.ts'
import type { Clue } from './finding.ts'
import type { Trajectory, Turn } from './trajectory.ts'

/** Finds replies and sessions that ended before they were complete. */
export function findCuts(run: Trajectory): Clue[] {
  return [...findCutReplies(run), ...findCutSession(run)]
}

const lengthReasons =
  /^(?:length|max_?tokens|max_output_tokens|incomplete|token_limit|model_context_window_exceeded)$/i
const filterReasons =
  /^(?:content_?filter(?:ed)?|safety|recitation|blocklist|prohibited_content|spii|guardrail\w*)$/i
/** Calls with a small limit want only a word. */
const FEWEST_TOKENS = 64

/** A reply that was cut and that the session ended with, or that broke the call in it. */
function findCutReplies({ decisions, answer }: Trajectory): Clue[] {
  return decisions.flatMap((turn) => {
    const reason = turn.step.finishReasons?.find(
      (word) => lengthReasons.test(word) || filterReasons.test(word),
    )
    const isAborted = turn.step.streaming?.isAborted === true
    const isLast = turn === decisions.at(-1) || turn === answer
    if ((reason === undefined && !isAborted) || !isLast || isMeantToBeShort(turn.step)) return []
    const why =
      reason === undefined
        ? (describeAbort(turn.step) ?? 'Stream aborted')
        : filterReasons.test(reason)
          ? 'the content filter stopped it'
          : 'the token limit cut it'
    return [
      toClue('cut-short/reply', turn, 1, `The reply of ${nameTurn(turn)} is not complete: ${why}.`, [
        evidenceAt(turn, 'finishReasons', reason ?? 'aborted'),
      ]),
    ]
  })
}

function isMeantToBeShort({ parameters, usage }: Step): boolean {
  const limit = parameters?.max_tokens ?? parameters?.maxTokens ?? parameters?.max_output_tokens
  return (typeof limit === 'number' && limit < FEWEST_TOKENS) || (usage?.output ?? FEWEST_TOKENS) < 2
}

const limits: readonly [pattern: RegExp, words: string][] = [
  [
    /context.{0,12}(?:length|window)|maximum context|too many (?:input )?tokens|prompt is too long/i,
    'the context window was full',
  ],
  [
    /max(?:imum)?.{0,8}(?:turns?|iterations?|steps?|rounds?)|recursion.?limit|no answer after \d+|turn limit|too many (?:turns|steps|iterations)/i,
    'it ran out of turns',
  ],
  [/time(?:d)?.?out|deadline.?exceeded|aborterror|ETIMEDOUT/i, 'it timed out'],
]

/** The session itself was stopped: a limit, a timeout, a process that died. */
function findCutSession(run: Trajectory): Clue[] {
  const { session, steps, decisions, turns } = run
  if (!run.hasFailed) return []
  const last = decisions.at(-1) ?? turns.at(-1)
  if (session.endState === 'lost') {
    const open = steps.findLast(({ status }) => status === 'running') ?? steps.at(-1)
    if (open === undefined) return []
    const turn = run.turnOf.get(open.id) ?? toBareTurn(open, steps)
    return [
      toClue(
        'cut-short/session',
        turn,
        1,
        `The session never ended. The last that was heard is ${nameTurn(turn)}.`,
        [evidenceAt(turn, '', 'never ended')],
      ),
    ]
  }
  const failed = steps.findLast((step) => ownsError(step) && step.error?.isHandled !== true)
  const text = `${failed === undefined ? '' : errorText(failed)} ${session.endStateReason ?? ''}`
  const limit = limits.find(([pattern]) => pattern.test(text))
  if (limit === undefined) return []
  const turn: Turn | undefined = failed === undefined ? last : (run.turnOf.get(failed.id) ?? last)
  if (turn === undefined) return []
  return [
    toClue('cut-short/session', turn, 1, `${capitalize(nameTurn(turn))} was the last: ${limit[1]}.`, [
      evidenceAt(turn, 'error', text.trim()),
    ]),
  ]
}
