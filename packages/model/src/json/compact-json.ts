/** JSON without spaces that stops once it is longer than `maxLength`, however large or deep the value. */
export function compactJson(value: unknown, maxLength: number, maxDepth = 8): string {
  const writer = { text: '', maxLength, maxDepth }
  write(writer, value, 0)
  return writer.text
}

type Writer = { text: string; maxLength: number; maxDepth: number }

function write(writer: Writer, value: unknown, depth: number): void {
  if (writer.text.length > writer.maxLength) return
  if (typeof value === 'string') writer.text += JSON.stringify(value.slice(0, writer.maxLength + 1))
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
    writer.text += isPlainKey(key, writer.maxLength)
      ? `${separator}"${key}":`
      : `${separator}${JSON.stringify(key.slice(0, writer.maxLength))}:`
    separator = ','
    write(writer, record[key], depth + 1)
    if (writer.text.length > writer.maxLength) return
  }
  writer.text += '}'
}

/** Short, and of characters that JSON writes as they are. Most keys are, and a loop is faster than a call. */
function isPlainKey(key: string, maxLength: number): boolean {
  if (key.length > 40 || key.length > maxLength) return false
  for (let index = 0; index < key.length; index++) {
    const code = key.charCodeAt(index)
    if (code < 45 || code > 122 || code === 92) return false
  }
  return true
}
