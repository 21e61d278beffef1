const hexId = /^[0-9a-f]+$/

/** An id with the given number of hex digits: the text itself if it is one, otherwise a hash of it. */
export function stableId(text: string, digits: number): string {
  const plain = text.toLowerCase()
  if (plain.length === digits && hexId.test(plain)) return plain
  let id = ''
  for (let part = 0; id.length < digits; part++) id += hashOf(`${part}:${text}`)
  return id.slice(0, digits)
}

/** FNV-1a, spread so that neighbouring texts differ in every digit. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, '0')
}
