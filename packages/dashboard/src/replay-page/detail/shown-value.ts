import { useEffect, type RefObject } from 'react'
import type { Finding, Step } from '@playhead/model'
import { useReplay } from '../playback/replay-context.ts'
import { useReplaySearch } from '../playback/replay-location.ts'
import { findText } from './find-text.ts'
import './shown-value.css'

const MOST_TRIES = 6
const HIGHLIGHT = 'shown-value'

/** Scrolls to the value that the URL points to, and marks it. `step` is the shown one, with its payload once that is loaded. */
export function useShownValue(detail: RefObject<HTMLElement | null>, step: Step): void {
  const { findings } = useReplay()
  const path = useReplaySearch(({ at }) => at)
  const tab = useReplaySearch((search) => search.tab)
  const text = path === undefined ? '' : textAt(findings, step.id, path)
  useEffect(() => {
    if (path === undefined || detail.current === null) return
    return showValue(detail.current, path, text)
  }, [detail, path, tab, text, step.id, step.hasPayload])
}

function textAt(findings: readonly Finding[], stepId: string, path: string): string {
  const places = findings.flatMap(({ evidence }) => evidence)
  return places.find((place) => place.stepId === stepId && place.path === path)?.text ?? ''
}

/** Looks for the value frame by frame: parts of it may still be folded. Returns a function that removes the mark. */
function showValue(detail: HTMLElement, path: string, text: string): () => void {
  let tries = 0
  let frame = 0
  let marked: Element | undefined
  const look = () => {
    tries += 1
    marked?.removeAttribute('data-shown')
    marked = findPlace(detail, path)
    if (marked === undefined) {
      if (tries < MOST_TRIES) frame = requestAnimationFrame(look)
      return
    }
    const range = findText(marked, text)
    if (range === undefined && tries < MOST_TRIES && unfold(marked)) {
      frame = requestAnimationFrame(look)
      return
    }
    marked.setAttribute('data-shown', '')
    if (range !== undefined) CSS.highlights?.set(HIGHLIGHT, new Highlight(range))
    const target = range?.startContainer.parentElement ?? marked
    target.scrollIntoView({ block: 'center', inline: 'nearest' })
  }
  frame = requestAnimationFrame(look)
  return () => {
    cancelAnimationFrame(frame)
    marked?.removeAttribute('data-shown')
    CSS.highlights?.delete(HIGHLIGHT)
  }
}

/** The element of a path; of a value deep inside, the nearest element around it. */
function findPlace(detail: HTMLElement, path: string): Element | undefined {
  for (let at = path; at !== ''; at = at.replace(/(?:^|\.)[^.[\]]+$|\[[^[]*\]$/, '')) {
    const found = detail.querySelector(`[data-path~="${CSS.escape(at)}"]`)
    if (found !== null) return found
    if (!/[.[]/.test(at)) break
  }
  return undefined
}

/** Opens a text that is shown only in part, if there is one. */
function unfold(element: Element): boolean {
  const more = [...element.querySelectorAll<HTMLElement>('.long-text-more')].find(({ textContent }) =>
    textContent.startsWith('show all'),
  )
  more?.click()
  return more !== undefined
}
