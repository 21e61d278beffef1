import { countingScores, showScore, stepTitle, visibleText, type Score } from '@playhead/model'
import { useReplay } from '../playback/replay-context.ts'

const MOST_SHOWN = 8

/** The scores that count, and those of steps, which lead to their step. */
export function ScoreChips({ scores }: { scores: readonly Score[] }) {
  const counting = new Set(countingScores(scores))
  const ofSteps = newestOfSteps(scores).filter((score) => !counting.has(score))
  const shown = [...counting, ...ofSteps]
  if (shown.length === 0) return <span className="dim verdict-none">No scores yet</span>
  return (
    <ul className="score-chips" aria-label="Scores">
      {shown.slice(0, MOST_SHOWN).map((score) => (
        <li key={score.id}>
          <ScoreChip score={score} />
        </li>
      ))}
      {shown.length > MOST_SHOWN && <li className="dim">+{shown.length - MOST_SHOWN}</li>}
    </ul>
  )
}

function newestOfSteps(scores: readonly Score[]): Score[] {
  const newest = new Map<string, Score>()
  for (const score of scores) {
    const key = `${score.stepId} ${score.name}`
    if (score.stepId !== undefined && !newest.has(key)) newest.set(key, score)
  }
  return [...newest.values()]
}

function ScoreChip({ score }: { score: Score }) {
  const { timeline, goTo } = useReplay()
  const { name, value, comment, source, stepId } = score
  const position = stepId === undefined ? undefined : timeline.positionOf.get(stepId)
  const step = position === undefined ? undefined : timeline.steps[position]
  const where =
    stepId === undefined ? '' : step === undefined ? ' · a step that never arrived' : ` · ${stepTitle(step)}`
  const title = `${sourceWords[source]}${where}${comment === undefined ? '' : `: ${comment}`}`
  const text = (
    <>
      {visibleText(name)} <b>{visibleText(showScore(value))}</b>
      {step !== undefined && <span className="dim"> {visibleText(stepTitle(step))}</span>}
      {comment !== undefined && <span className="score-comment">{visibleText(comment)}</span>}
    </>
  )
  if (step === undefined)
    return (
      <span className="score-chip" title={visibleText(title)}>
        {text}
      </span>
    )
  return (
    <button type="button" className="score-chip" title={visibleText(title)} onClick={() => goTo(step.id)}>
      {text}
    </button>
  )
}

const sourceWords: Record<Score['source'], string> = {
  person: 'Given by a person',
  code: 'Computed',
  model: 'Given by a model',
  user: 'Given by the user',
}
