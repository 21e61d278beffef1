/**
 * What is reported may quote what strangers sent: it must neither begin a line of its own that looks like ours, nor
 * steer the terminal.
 */
export function toReportLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, escapeCharacter).replaceAll('\n', '\n    ')
}

function escapeCharacter(character: string): string {
  if (character === '\n' || character === '\t') return character
  return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`
}
