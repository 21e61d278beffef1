import { withoutCommands } from '@playhead/model'

/** Escapes a report for the terminal. It may quote untrusted input, which must neither forge a line nor send control codes or commands. */
export function toReportLine(text: string): string {
  const visible = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, escapeCharacter)
  return withoutCommands(visible).replaceAll('\n', '\n    ')
}

function escapeCharacter(character: string): string {
  if (character === '\n' || character === '\t') return character
  return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`
}
