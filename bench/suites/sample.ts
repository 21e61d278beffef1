import type { Api } from '../harness/api.ts'
import { isRareWord } from '../corpus/english.ts'
import { DAY_MS, projects, SPREAD_DAYS } from '../corpus/projects.ts'
import { Random } from '../corpus/random.ts'

/** What the queries need to know about the contents of the store. */
export type Sample = {
  /** Sessions that were never opened, so that a measurement is the first to open them. */
  unopened: { project: string; id: string; user: string }[]
  opened: { project: string; id: string; stepIds: string[] }[]
  secondPages: { project: string; cursor: string }[]
  /** Words that occur in very few sessions. */
  rareWords: { project: string; word: string }[]
}

type Page = { sessions: { id: string; userId?: string }[]; nextCursor?: string }

/** Samples lists from the whole month, so that queries can use different sessions. */
export async function takeSample(
  api: Api,
  options: { pages: number; filledAtMs: number; onProgress: (share: number) => void },
): Promise<Sample> {
  const random = new Random(21)
  const sample: Sample = { unopened: [], opened: [], secondPages: [], rareWords: [] }
  for (let index = 0; index < options.pages; index++) {
    options.onProgress(index / options.pages)
    const project = projects[index % projects.length]!
    const to = new Date(options.filledAtMs - random.next() * (SPREAD_DAYS - 2) * DAY_MS).toISOString()
    const page = await api.get<Page>(`/api/sessions?project=${project}&to=${to}&limit=50`)
    if (page.nextCursor !== undefined) sample.secondPages.push({ project, cursor: page.nextCursor })
    const [toOpen, ...others] = page.sessions
    for (const session of others.slice(0, 4))
      sample.unopened.push({ project, id: session.id, user: session.userId ?? '' })
    if (toOpen !== undefined) await openSession(api, sample, { project, id: toOpen.id })
  }
  return sample
}

async function openSession(
  api: Api,
  sample: Sample,
  session: { project: string; id: string },
): Promise<void> {
  const { project, id } = session
  const { steps } = await api.get<{ steps: { id: string }[] }>(`/api/sessions/${id}?project=${project}`)
  sample.opened.push({ project, id, stepIds: steps.map((step) => step.id) })
  const words = JSON.stringify(steps).match(/\b[a-z]{7,}\b/g) ?? []
  const word = words.find(isRareWord)
  if (word !== undefined) sample.rareWords.push({ project, word })
}
