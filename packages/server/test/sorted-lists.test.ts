import { beforeAll, describe, expect, test } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import { hex } from './otlp.ts'
import { describeWithEachEngine, HOUR, NOW, session, type ProjectServer } from './project-server.ts'

type Scored = { id: string; startMs: number; score: number }

/** More than the spare candidates of a page, so that each way to find one is used. */
const TOGETHER = 45

describeWithEachEngine((api) => {
  describe('a list sorted by score', () => {
    const sessions: Scored[] = []

    beforeAll(async () => {
      await api.freshProject()
      // A merge would remove outdated rows, which the lists have to tell from current ones.
      await api.server.services.store.client.command({ query: 'SYSTEM STOP MERGES' })
      for (let index = 0; index < 2 * TOGETHER; index += 1)
        sessions.push({
          id: hex(16),
          // Half of them started at the same time, and the others each at a time of its own.
          startMs: index < TOGETHER ? NOW - HOUR : NOW - HOUR - index,
          score: index >= TOGETHER && index % 3 === 0 ? 0.5 : 0.9,
        })
      await api.post(
        ...sessions.map(({ id, startMs, score }) =>
          session({ traceId: id, startMs, more: { 'langfuse.score.helpful': score } }),
        ),
      )
    })

    test.each(pages())(
      'shows sessions that started together by id: order=%s&limit=%i',
      async (order, limit) => {
        expect(await readAll(api, `sort=score:helpful&order=${order}&limit=${limit}`)).toEqual(
          inOrder(sessions, order),
        )
      },
    )

    describe.each([
      ['a few', 4, [0.1, 1]],
      ['all', 1, [1, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2]],
    ])('after %s of its sessions have got another score', (_, every, scores) => {
      beforeAll(async () => {
        const changed = sessions.filter((_one, index) => index % every === 0)
        await Promise.all(
          changed.map(async (one, index) => {
            one.score = scores[index % scores.length]!
            const json = { name: 'helpful', value: one.score }
            await api.server.request(`/api/sessions/${one.id}/scores?project=${api.project}`, { json })
          }),
        )
      })

      test.each(pages())('has each session where it is now: order=%s&limit=%i', async (order, limit) => {
        expect(await readAll(api, `sort=score:helpful&order=${order}&limit=${limit}`)).toEqual(
          inOrder(sessions, order),
        )
      })
    })
  })
})

function pages(): ['asc' | 'desc', number][] {
  return [
    ['desc', 7],
    ['asc', 7],
    ['desc', 50],
    ['asc', 50],
  ]
}

function inOrder(sessions: readonly Scored[], order: 'asc' | 'desc'): string[] {
  return sessions
    .toSorted(
      (left, right) =>
        (order === 'asc' ? left.score - right.score : right.score - left.score) ||
        right.startMs - left.startMs ||
        (left.id < right.id ? 1 : -1),
    )
    .map(({ id, score }) => `${id} ${score}`)
}

async function readAll(api: ProjectServer, query: string): Promise<string[]> {
  const seen: string[] = []
  let cursor = ''
  do {
    const response = await api.server.request(`/api/sessions?project=${api.project}&${query}${cursor}`)
    const page = (await response.json()) as { sessions: SessionSummary[]; nextCursor?: string }
    seen.push(
      ...page.sessions.map(({ id, scores = [] }) => `${id} ${scores.map(({ value }) => value).join()}`),
    )
    cursor = page.nextCursor === undefined ? '' : `&cursor=${page.nextCursor}`
  } while (cursor !== '')
  return seen
}
