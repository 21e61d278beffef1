import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Session } from '@playhead/model'
import { useSessionSource, type TagEdit } from './session-source.ts'

/** Changes the tags of a session on the server, and on the page as soon as the server has them. */
export function useEditTags(sessionId: string) {
  const source = useSessionSource()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (edit: TagEdit) => source.editTags!(sessionId, edit),
    onSuccess: ({ tags }) => {
      client.setQueriesData<Session>({ queryKey: ['session', source.name] }, (data) =>
        data?.session.id === sessionId ? { ...data, session: { ...data.session, tags } } : data,
      )
      return client.invalidateQueries({ queryKey: ['stats'] })
    },
  })
}
