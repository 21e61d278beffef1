import { useMutation, useQueryClient } from '@tanstack/react-query'
import { countingScores, VERDICT, type Score, type Verdict } from '@playhead/model'
import { useSessionSource, type LoadedSession } from '../../api/session-source.ts'

/** What a verdict is about: the session, or one step of it. */
export type About = { stepId?: string }

/** The verdict that counts for the session or for a step. */
export function verdictOf(scores: readonly Score[], { stepId }: About): Score | undefined {
  return scores.find((score) => score.name === VERDICT && score.stepId === stepId)
}

/** Gives a verdict, and shows it as soon as the server has it. */
export function useGiveVerdict(sessionId: string) {
  const source = useSessionSource()
  const client = useQueryClient()
  return useMutation({
    // A note comes after its verdict, however slow the server is.
    scope: { id: `verdict ${sessionId}` },
    mutationFn: ({ verdict, note, stepId }: About & { verdict: Verdict; note?: string }) =>
      source.addScore!(sessionId, {
        name: VERDICT,
        value: verdict,
        source: 'person',
        ...(note !== undefined && note !== '' && { comment: note }),
        ...(stepId !== undefined && { stepId }),
      }),
    onSuccess: (score) => {
      client.setQueriesData<LoadedSession>({ queryKey: ['session', source.name] }, (data) => {
        if (data?.session.id !== sessionId) return data
        const isRoot = data.steps.some(({ id, parentId }) => id === score.stepId && parentId === null)
        const { stepId: _, ...whole } = score
        const scores = [isRoot ? whole : score, ...(data.scores ?? [])]
        return { ...data, scores, session: { ...data.session, scores: countingScores(scores) } }
      })
      client.setQueriesData<ReviewList>({ queryKey: ['review'] }, (list) =>
        list === undefined || score.stepId !== undefined
          ? list
          : { ...list, reviewed: new Set([...list.reviewed, sessionId]) },
      )
      void client.invalidateQueries({ queryKey: ['stats'] })
    },
  })
}

/** The sessions to go through, in the order of the list they come from, and those that have a verdict. */
export type ReviewList = { ids: readonly string[]; reviewed: ReadonlySet<string> }
