/**
 * What is reported may quote what strangers sent: it must neither begin a line of its own that looks like ours, nor
 * steer the terminal.
 */
export function toReportLine(text: string): string {
  return text
    .replaceAll(/[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, escapeCharacter)
    .replaceAll('\n', '\n    ')
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
