import { setTimeout as sleep } from 'node:timers/promises'
import * as playhead from 'playhead'
import { openai } from '../ask-model.ts'
import { runToolLoop } from '../tool-loop.ts'

const articles = [
  { id: 'plans', text: 'Plans and what they cost' },
  { id: 'import', text: 'Bring your events from another calendar' },
]

const searchHelp = playhead.recordTool(
  { name: 'search_help', description: 'Articles of the help center', effect: 'read' },
  async (query: string) => {
    await openai().embeddings.create({ model: 'text-embedding-3-small', input: query })
    await sleep(90)
    return { query, articles: articles.filter(({ text }) => text.toLowerCase().includes(query)) }
  },
)

/** An agent stuck in a loop: it repeats the same search until it runs out of turns. */
export function searchInCircles(message: string): Promise<string> {
  return playhead.withSession({ name: 'help center', input: message, tags: ['support', 'help'] }, () =>
    runToolLoop(
      [
        { role: 'system', content: 'You search the help center.' },
        { role: 'user', content: message },
      ],
      [{ name: 'search_help', description: 'Articles', parameters: ['query'], run: searchHelp }],
      5,
    ),
  )
}
