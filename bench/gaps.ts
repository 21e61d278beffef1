/** Why a target may be missed, found by profiling; said on the page beneath the figures that miss it. */
export const gaps: readonly (readonly [RegExp, string])[] = [
  [
    /memory, idle/,
    "most of it is code: the engine maps ClickHouse's library and touches about 200 MB of it, which the kernel can drop; the two processes' own memory, which it can't, is about 75 MB each (`RssAnon` in /proc/<pid>/status).",
  ],
  [
    /on disk per span/,
    'small stores pay for the dictionary of the text index, which grows with the words that are in use and not with the spans: compare what a span takes at the sizes on this page. The promise is for stores of a million spans and more (`npm run bench -- storage`).',
  ],
  [
    /memory at .* peak/,
    'peaks are sampled quickly, and count code that both processes have mapped twice; and on a busy machine requests and rows wait in memory for their turn.',
  ],
]
