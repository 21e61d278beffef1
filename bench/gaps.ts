/** Why a target may be missed, found by profiling; said on the page beneath the figures that miss it. */
export const gaps: readonly (readonly [RegExp, string])[] = [
  [
    /memory, idle/,
    "most of it is code: the engine maps ClickHouse's library and touches about 200 MB of it, which the kernel can drop; the two processes' own memory, which it can't, is about 75 MB each (`RssAnon` in /proc/<pid>/status).",
  ],
  [
    /spans: on disk per span/,
    'small stores pay for the dictionary of the text index, which grows with the words that are in use and not with the spans: compare what the index takes of a span at the sizes above. The promise is for stores of a million spans and more (`--spans 1000000`).',
  ],
  [
    /on disk per span, after merges/,
    'merges had not ended: on a busy machine they wait for everything else. The storage suite shows what the bytes are made of.',
  ],
]
