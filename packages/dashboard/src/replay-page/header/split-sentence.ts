/** A piece of a sentence; `number` is that of the step it names, from 1. */
export type SentencePart = { text: string; number?: number }

/** Splits the sentence of a finding at the steps that it names: "it began at step 3." */
export function splitSentence(sentence: string): SentencePart[] {
  const parts: SentencePart[] = []
  let end = 0
  for (const match of sentence.matchAll(/\bstep (\d{1,9})\b/gi)) {
    if (match.index > end) parts.push({ text: sentence.slice(end, match.index) })
    parts.push({ text: match[0], number: Number(match[1]) })
    end = match.index + match[0].length
  }
  if (end < sentence.length) parts.push({ text: sentence.slice(end) })
  return parts
}
