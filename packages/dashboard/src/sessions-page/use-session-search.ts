import { useNavigate, useSearch } from '@tanstack/react-router'
import { asksForReruns, parseFilter, parseScoreFilter } from '@playhead/model'
import { useCallback, useMemo } from 'react'
import { withoutEmpty } from '../ui/browser/search-params.ts'
import { type SessionsSearch, parseSort, writeSort } from './sessions-search.ts'

type Change = { [Field in keyof SessionsSearch]?: SessionsSearch[Field] | undefined }

/** The search in the address, parsed for the list, the charts and the filter. Like the charts, the list leaves out re-runs unless somebody asks for them. */
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
  const hasReruns = asksForReruns(filter.parameters)
  const listParameters = useMemo(
    () => ({
      ...filterParameters,
      ...(!hasReruns && { reruns: 'exclude' }),
      ...(!isNewestFirst && { sort: sort.column, order: sort.isAscending ? 'asc' : 'desc' }),
    }),
    [filterParameters, hasReruns, isNewestFirst, sort],
  )
  const scoreNames = useMemo(
    () => filter.terms.flatMap(({ key, value }) => (key?.name === 'score' ? scoreNameOf(value) : [])),
    [filter],
  )
  const change = useCallback(
    (to: Change) => void navigate({ search: (before) => withoutEmpty<SessionsSearch>({ ...before, ...to }) }),
    [navigate],
  )
  return {
    q,
    from,
    to,
    filter,
    sort,
    hasReruns,
    isNewestFirst,
    filterParameters,
    listParameters,
    scoreNames,
    change,
  }
}

/** The score that a condition is about, unless the sessions must not have it. */
function scoreNameOf(text: string): string[] {
  const score = parseScoreFilter(text)
  return score === undefined || score.isAbsent === true ? [] : [score.name]
}

export type SessionSearch = ReturnType<typeof useSessionSearch>
