import { summarizeSession } from '@playhead/model'
import { SessionView } from './session-view.ts'

/** What code sees that asks for a session where nothing is recorded. */
export const emptyView = new SessionView({
  id: '',
  url: '',
  read: () => ({ session: summarizeSession([], { nowMs: 0, lastHeardAtMs: 0 }), steps: [] }),
})
