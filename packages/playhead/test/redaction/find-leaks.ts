/** So many consecutive characters of a secret are a leak; its start and its end are searched. */
const PROBE_LENGTH = 10

/** The secrets that appear in the texts, in whole or in part. */
export function findLeaks<Item extends { hidden: string }>(
  items: readonly Item[],
  texts: readonly string[],
): Set<Item> {
  const probes = new Map<string, Item>()
  for (const item of items)
    for (const probe of [item.hidden.slice(0, PROBE_LENGTH), item.hidden.slice(-PROBE_LENGTH)])
      probes.set(probe, item)
  const leaked = new Set<Item>()
  for (const text of texts.flatMap((whole) => [whole, joinedPieces(whole)]))
    for (let at = 0; at + PROBE_LENGTH <= text.length; at += 1) {
      const item = probes.get(text.slice(at, at + PROBE_LENGTH))
      if (item !== undefined) leaked.add(item)
    }
  return leaked
}

type Attribute = { key: string; value: { stringValue?: string } }
type Payload = { resourceSpans?: { scopeSpans: { spans: { attributes: Attribute[] }[] }[] }[] }

/** Joins the chunks of streams, because a secret may span several. */
function joinedPieces(text: string): string {
  const payload = JSON.parse(text) as Payload
  const spans =
    payload.resourceSpans?.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans)) ?? []
  return spans
    .flatMap(({ attributes }) => attributes.filter(({ key }) => key === 'playhead.stream.chunks'))
    .map(({ value }) =>
      (JSON.parse(value.stringValue!) as [number, string][]).map(([, piece]) => piece).join(''),
    )
    .join('\n')
}
