/** JSON without spaces that stops once it is longer than `maxLength`, however large or deep the value. */
export function compactJson(value: unknown, maxLength: number, maxDepth = 8): string {
  const writer = { text: '', maxLength, maxDepth }
  write(writer, value, 0)
  return writer.text
}

type Writer = { text: string; maxLength: number; maxDepth: number }

function write(writer: Writer, value: unknown, depth: number): void {
  if (writer.text.length > writer.maxLength) return
  if (typeof value === 'string') writer.text += quoted(value, writer.maxLength)
  else if (typeof value === 'function') writer.text += '[function]'
  else if (typeof value !== 'object' || value === null) writer.text += String(value)
  else if (depth === writer.maxDepth) writer.text += '…'
  else if (Array.isArray(value)) writeList(writer, value, depth)
  else writeObject(writer, value as Record<string, unknown>, depth)
}

function writeList(writer: Writer, list: readonly unknown[], depth: number): void {
  writer.text += '['
  for (let index = 0; index < list.length; index++) {
    if (index > 0) writer.text += ','
    write(writer, list[index], depth + 1)
    if (writer.text.length > writer.maxLength) return
  }
  writer.text += ']'
}

function writeObject(writer: Writer, record: Record<string, unknown>, depth: number): void {
  writer.text += '{'
  let separator = ''
  for (const key of Object.keys(record)) {
    writer.text += `${separator}${quoted(key, writer.maxLength - 1)}:`
    separator = ','
    write(writer, record[key], depth + 1)
    if (writer.text.length > writer.maxLength) return
  }
  writer.text += '}'
}

/** As JSON, or as much of it as may be needed. */
function quoted(text: string, maxLength: number): string {
  const start = text.length > maxLength + 1 ? text.slice(0, maxLength + 1) : text
  return isPlain(start) ? `"${start}"` : JSON.stringify(start)
}

/** Short, and of characters that JSON writes as they are. Most keys and many values are, and a loop is faster than a call. */
function isPlain(text: string): boolean {
  if (text.length > 40) return false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 32 || code === 34 || code === 92 || code > 126) return false
  }
  return true
}
