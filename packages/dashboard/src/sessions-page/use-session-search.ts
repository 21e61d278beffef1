import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { parseFilter } from '../session-filter/parse-filter.ts'
import { withoutEmpty } from '../ui/browser/search-params.ts'
import { type SessionsSearch, parseSort, writeSort } from './sessions-search.ts'

type Change = { [Field in keyof SessionsSearch]?: SessionsSearch[Field] | undefined }

/** The search in the address, parsed for the list, the charts and the filter. */
export function useSessionSearch() {
  const search = useSearch({ from: '/sessions' })
  const navigate = useNavigate({ from: '/sessions' })
  const { q = '', from, to } = search
  const filter = useMemo(() => parseFilter(q), [q])
  const sort = useMemo(() => parseSort(search.sort), [search.sort])
  const isNewestFirst = writeSort(sort) === undefined
  const filterParameters = useMemo(
    () => ({ ...filter.parameters, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }),
    [filter, from, to],
  )
  const listParameters = useMemo(
    () =>
      isNewestFirst
        ? filterParameters
        : { ...filterParameters, sort: sort.column, order: sort.isAscending ? 'asc' : 'desc' },
    [filterParameters, isNewestFirst, sort],
  )
  const change = useCallback(
    (to: Change) => void navigate({ search: (before) => withoutEmpty<SessionsSearch>({ ...before, ...to }) }),
    [navigate],
  )
  return { q, from, to, filter, sort, isNewestFirst, filterParameters, listParameters, change }
}

export type SessionSearch = ReturnType<typeof useSessionSearch>
