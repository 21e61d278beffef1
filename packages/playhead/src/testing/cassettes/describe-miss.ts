import { visibleText, type TapeMiss } from '@playhead/model'

/** The sentence of a miss, the words that differ, and what to do about it. */
export function describeMiss(miss: TapeMiss, path: string, isStrict: boolean): string {
  const lines = [`The cassette ${path} has no answer. ${miss.sentence}`, ...diffOf(miss)]
  if (isStrict)
    lines.push(
      'If the change is meant, record what is missing with PLAYHEAD_CASSETTE=fill, or all of it with PLAYHEAD_CASSETTE=record.',
    )
  return lines.join('\n\n')
}

function diffOf({ words }: TapeMiss): string[] {
  if (words === undefined) return []
  const side = (kind: 'a' | 'b') =>
    words
      .filter((word) => word.kind === 'same' || word.kind === kind)
      .map(({ kind: of, text }) => (of === 'same' ? shorten(text) : visibleText(text)))
      .join('')
  return [`- recorded: ${side('a')}\n+ asked:    ${side('b')}`]
}

const KEPT = 40

/** What both sides share, without its middle. */
function shorten(text: string): string {
  const shown = text.length > 3 * KEPT ? `${text.slice(0, KEPT)} … ${text.slice(-KEPT)}` : text
  return visibleText(shown)
}
