import { useEffect, useEffectEvent, useRef } from 'react'
import { useChangeIssue, type Issue } from '../api/issues.ts'

/** What can be done with the example of an issue. */
export type IssueTool = 'test' | 'verify'

/** The keys of the list, as its last line says them. */
export const keyHelp: readonly [keys: string, what: string][] = [
  ['J K', 'next, previous'],
  ['Enter', 'open'],
  ['E', 'resolve or reopen'],
  ['I', 'ignore or reopen'],
  ['T', 'make a test'],
  ['V', 'verify'],
]

export function isUndecided({ state }: Issue): boolean {
  return state === 'open' || state === 'reopened'
}

type KeyOptions = {
  issues: readonly Issue[]
  table: () => HTMLElement | null
  onTool: (tool: IssueTool, issueId: string) => void
}

/** Arrows, J and K go from issue to issue; letters act on the one that has the focus. */
export function useIssueKeys({ issues, table, onTool }: KeyOptions): { error: Error | null } {
  const { mutate, error } = useChangeIssue()
  const last = useRef<string>(undefined)
  const decide = (issue: Issue, state: 'resolved' | 'ignored') =>
    mutate({ id: issue.id, state: isUndecided(issue) ? state : 'open' })
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    const titles = [...(table()?.querySelectorAll<HTMLElement>('.issue-title') ?? [])]
    const target = event.target as HTMLElement
    if (target.closest('input, textarea, select, [role=dialog]') !== null) return
    const focused = titles.indexOf(target)
    // A dialog that closes gives the focus back a moment later.
    const position =
      focused < 0 && target === document.body ? issues.findIndex(({ id }) => id === last.current) : focused
    const key = event.key.toLowerCase()
    const direction = { arrowdown: 1, j: 1, arrowup: -1, k: -1 }[key]
    if (direction !== undefined && (position >= 0 || key === 'j' || key === 'k')) {
      event.preventDefault()
      titles[Math.max(0, position + direction)]?.focus()
      return
    }
    const issue = issues[position]
    if (issue === undefined) return
    last.current = issue.id
    if (key === 'e' || key === 'i') {
      // The row may leave the list.
      if (isUndecided(issue)) (titles[position + 1] ?? titles[position - 1])?.focus()
      decide(issue, key === 'e' ? 'resolved' : 'ignored')
    } else if (key === 't') onTool('test', issue.id)
    else if (key === 'v') onTool('verify', issue.id)
  })
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  return { error }
}
