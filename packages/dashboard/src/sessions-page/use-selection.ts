import type { SessionSummary } from '@playhead/model'
import { useCallback, useMemo, useState } from 'react'

/** Which of the listed sessions are selected. A session that leaves the list leaves the selection. */
export function useSelection(sessions: readonly SessionSummary[]) {
  const [selection, setSelection] = useState(nothingSelected)
  const order = useMemo(() => sessions.map(({ id }) => id), [sessions])
  const listed = useMemo(() => {
    const there = new Set(order)
    return new Set([...selection.ids].filter((id) => there.has(id)))
  }, [order, selection])
  const select = useCallback(
    (id: string, isRange: boolean) =>
      setSelection((before) => (isRange ? selectRange(before, order, id) : toggleOne(before, id))),
    [order],
  )
  const chosen = useMemo(() => sessions.filter(({ id }) => listed.has(id)), [sessions, listed])
  return {
    ids: listed,
    chosen,
    select,
    selectAll: () => setSelection((before) => toggleAll(before, order)),
    clear: () => setSelection(nothingSelected),
  }
}

/** Which rows are chosen, and from where a range is counted. */
export type Selection = { ids: ReadonlySet<string>; anchor: string | undefined }

export const nothingSelected: Selection = { ids: new Set(), anchor: undefined }

/** One row in or out; the next range begins here. */
export function toggleOne({ ids }: Selection, id: string): Selection {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return { ids: next, anchor: id }
}

/** Everything from the row that was chosen last to this one, as shift does everywhere. */
export function selectRange(selection: Selection, order: readonly string[], id: string): Selection {
  const from = selection.anchor === undefined ? -1 : order.indexOf(selection.anchor)
  const to = order.indexOf(id)
  if (from < 0 || to < 0) return toggleOne(selection, id)
  const range = order.slice(Math.min(from, to), Math.max(from, to) + 1)
  return { ids: new Set([...selection.ids, ...range]), anchor: selection.anchor }
}

/** All of them, or none when all are chosen already. */
export function toggleAll({ ids }: Selection, order: readonly string[]): Selection {
  return order.every((id) => ids.has(id)) ? nothingSelected : { ids: new Set(order), anchor: order[0] }
}
