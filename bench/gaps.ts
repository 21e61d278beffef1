/** Why a target may be missed, found by profiling; said on the page beneath the figures that miss it. */
export const gaps: readonly (readonly [RegExp, string])[] = [
  [
    /memory, idle/,
    "most of it is code: the engine maps ClickHouse's library and touches about 200 MB of it, which the kernel can drop; the two processes' own memory, which it can't, is about 75 MB each (`RssAnon` in /proc/<pid>/status).",
  ],
  [
    /100,000 spans: on disk per span/,
    'the promise is for a store that is not small: the dictionary of the text index, which is the larger part of what is above it, grows with the words that are in use, not with the spans. Larger stores are measured by `--spans 1000000`.',
  ],
]
