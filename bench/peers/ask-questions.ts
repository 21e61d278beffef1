import { Api } from '../api.ts'
import { percentile } from '../percentile.ts'
import { ask } from './ask.ts'
import type { Measures } from './compare.ts'
import { questionNames, type Ask, type Contender, type QuestionName } from './contender.ts'
import { ASKED, ASKED_SECONDS } from './parameters.ts'

/** What questions are about: none of the sessions has been opened before. */
export type Subjects = { traceIds: string[]; users: string[]; words: readonly string[] }

const WARM_UP = 4
const FEWEST = 3

const titles: Record<QuestionName, string> = {
  open: 'open a session of 20 steps',
  list: 'list 50',
  listFailed: 'list 50 that failed',
  listOfUser: 'list 50 of a user',
  search: 'list 50 with a word in any step',
}

/** Asks one question after the other over a connection that stays open: what one person in front of a page feels. */
export async function askQuestions(
  contender: Contender,
  options: { url: string; subjects: Subjects; onProgress: (what: string) => void },
): Promise<Measures> {
  const measures: Measures = {}
  const api = new Api(options.url)
  for (const name of questionNames) {
    const title = titles[name]
    options.onProgress(title)
    const question = contender.questions[name]
    if ('none' in question) {
      for (const part of [', p50', ', p95', ': found', ': answer']) measures[`${title}${part}`] = question
      continue
    }
    const answers = await askAgain(api, (index) => question(subjectOf(name, options.subjects, index)))
    const mean = (field: 'count' | 'bytes') =>
      answers.reduce((sum, answer) => sum + answer[field], 0) / answers.length
    const times = answers.map(({ ms }) => ms)
    measures[`${title}, p50`] = { figure: percentile(times, 0.5), unit: 'ms' }
    measures[`${title}, p95`] = { figure: percentile(times, 0.95), unit: 'ms' }
    measures[`${title}: found`] = { figure: mean('count'), unit: name === 'open' ? 'steps' : 'sessions' }
    measures[`${title}: answer`] = { figure: mean('bytes') / 1_000, unit: 'KB' }
  }
  api.close()
  return measures
}

/** As often as is meant to be, or as often as there is time for. */
async function askAgain(
  api: Api,
  question: (index: number) => Ask,
): Promise<{ ms: number; count: number; bytes: number }[]> {
  const answers: { ms: number; count: number; bytes: number }[] = []
  const endMs = performance.now() + ASKED_SECONDS * 1_000
  for (let index = 0; index < WARM_UP + ASKED; index++) {
    const startedAtMs = performance.now()
    const isLate = startedAtMs > endMs
    if (isLate && answers.length >= FEWEST) break
    const answer = await ask(api, question(index))
    if (isLate || index >= WARM_UP) answers.push({ ms: performance.now() - startedAtMs, ...answer })
  }
  return answers
}

function subjectOf(name: QuestionName, { traceIds, users, words }: Subjects, index: number): string {
  const subjects = { open: traceIds, listOfUser: users, search: words, list: [''], listFailed: [''] }[name]
  return subjects[index % subjects.length]!
}
