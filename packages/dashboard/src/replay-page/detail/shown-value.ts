import { useEffect, type RefObject } from 'react'
import type { Finding, Step } from '@playhead/model'
import { useReplay } from '../playback/replay-context.ts'
import { useReplaySearch } from '../playback/replay-location.ts'
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

/** The place of a text in an element, compared by letters and digits: marks of markdown, quotes and line ends don't count. */
function findText(element: Element, wanted: string): Range | undefined {
  const needle = reduce(wanted)
  if (needle === '') return undefined
  const places: { node: Text; offset: number }[] = []
  let text = ''
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode() as Text | null; node !== null; node = walker.nextNode() as Text | null) {
    for (let offset = 0; offset < node.data.length && text.length < MOST_SEARCHED; offset += 1) {
      const character = reduce(node.data[offset]!)
      if (character === '') continue
      text += character
      places.push({ node, offset })
    }
  }
  // The end of a long text is cut off.
  for (const part of [needle, needle.slice(0, FEW_CHARACTERS)]) {
    const at = text.indexOf(part)
    if (at < 0) continue
    const [first, last] = [places[at]!, places[at + part.length - 1]!]
    const range = document.createRange()
    range.setStart(first.node, first.offset)
    range.setEnd(last.node, last.offset + 1)
    return range
  }
  return undefined
}

const MOST_SEARCHED = 400_000
const FEW_CHARACTERS = 40

/** Letters and digits only, in lower case, each as long as it was, so that positions stay those of the text. */
function reduce(text: string): string {
  return text
    .replaceAll(/[^\p{L}\p{N}]|[\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/\p{Lu}/gu, (letter) => (letter.toLowerCase().length === 1 ? letter.toLowerCase() : letter))
}
