/** Why a target may be missed, found by profiling; said on the page beneath the figures that miss it. */
export const gaps: readonly (readonly [RegExp, string])[] = [
  [
    /memory, idle/,
    "most of it is code: the engine maps ClickHouse's library and touches about 200 MB of it, which the kernel can drop; the two processes' own memory, which it can't, is about 75 MB each (`RssAnon` in /proc/<pid>/status).",
  ],
]
