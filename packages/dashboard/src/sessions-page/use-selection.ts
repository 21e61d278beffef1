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

/** The selected rows, and where a range starts. */
export type Selection = { ids: ReadonlySet<string>; anchor: string | undefined }

export const nothingSelected: Selection = { ids: new Set(), anchor: undefined }

/** Toggles a row; the next range starts here. */
export function toggleOne({ ids }: Selection, id: string): Selection {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return { ids: next, anchor: id }
}

/** Selects all rows from the last toggled one to this one. */
export function selectRange(selection: Selection, order: readonly string[], id: string): Selection {
  const from = selection.anchor === undefined ? -1 : order.indexOf(selection.anchor)
  const to = order.indexOf(id)
  if (from < 0 || to < 0) return toggleOne(selection, id)
  const range = order.slice(Math.min(from, to), Math.max(from, to) + 1)
  return { ids: new Set([...selection.ids, ...range]), anchor: selection.anchor }
}

/** Selects all rows, or none if all are selected. */
export function toggleAll({ ids }: Selection, order: readonly string[]): Selection {
  return order.every((id) => ids.has(id)) ? nothingSelected : { ids: new Set(order), anchor: order[0] }
}
