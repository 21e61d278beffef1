/** A figure, name or id that a text states. */
const quoted = /\*\*([^*\n]{2,60})\*\*|`+([^`\n]{2,80})`+|"([^"\n]{3,60})"(?!\s*:)|“([^”\n]{3,60})”/g
const figure = /(?<![\w.])[$€£]?\d[\d,]*(?:\.\d+)?%?(?![\w])/g

const MAX_VALUES = 24

/** The distinctive values that a text states, in the form in which `TextSearch` finds them. */
export function statedValues(text: string, most = MAX_VALUES): string[] {
  const found = new Set<string>()
  for (const match of text.matchAll(quoted)) {
    const value = (match[1] ?? match[2] ?? match[3] ?? match[4])!.trim().replace(/[:.,]+$/, '')
    if (value.length >= 3) found.add(normalizeText(value))
  }
  for (const [match] of text.matchAll(figure)) {
    const value = normalizeText(match)
      .replaceAll(/[$€£%]/g, '')
      .replace(/\.$/, '')
    if (value.length >= 2) found.add(value)
  }
  return [...found].slice(0, most)
}

/** Lower case, and figures without thousands separators. */
export function normalizeText(text: string): string {
  return text.toLowerCase().replaceAll(/(?<=\d),(?=\d{3})/g, '')
}

/** True when a normalized text states the value; a figure only as a whole. */
export function statesValue(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    if (!isFigure(value)) return true
    const [before, after] = [text[at - 1] ?? ' ', text[at + value.length] ?? ' ']
    if (!/[\d.]/.test(before) && !/\d/.test(after)) return true
  }
  return false
}

export function isFigure(value: string): boolean {
  return /^\d/.test(value)
}
