/** Embeddings: hundreds of numbers, or the same in base64. */
const vector = /\[[-+0-9.eE,\s]{256,}\]/g
const encoded = /"embedding":\s*"[A-Za-z0-9+/=]{256,}"/g

/** The JSON of an answer without its vectors, which take longer to parse than everything else. */
export function withoutVectors(json: string): string {
  if (!json.includes('"embedding')) return json
  return json.replace(vector, '[]').replace(encoded, '"embedding":""')
}
