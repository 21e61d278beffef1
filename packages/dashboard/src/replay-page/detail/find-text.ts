/** The place of a text in an element, compared by letters and digits: marks of markdown, quotes and line ends don't count. */
export function findText(element: Element, wanted: string): Range | undefined {
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
