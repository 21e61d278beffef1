import type { Api } from './api.ts'
import { isRareWord } from './english.ts'
import { DAY_MS, projects, SPREAD_DAYS } from './projects.ts'
import { Random } from './random.ts'

/** What is in the store, as far as questions need to name it. */
export type Sample = {
  /** Seen in a list, never opened: the first to open one is the one whose time is taken. */
  unopened: { project: string; id: string; user: string }[]
  opened: { project: string; id: string; stepIds: string[] }[]
  secondPages: { project: string; cursor: string }[]
  /** Words that hardly any session has. */
  rareWords: { project: string; word: string }[]
}

type Page = { sessions: { id: string; userId?: string }[]; nextCursor?: string }

/** Looks at lists all over the month, so that questions can be about different sessions. */
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
