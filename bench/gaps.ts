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
    'the rate is more than two cores take (below), so requests and rows wait in memory for their turn.',
  ],
  [
    /^ingest, |acknowledge at 20k|visible after the acknowledgement, at 30k/,
    "it is processor time: client, server and engine share two cores, and a span takes more of them than the target leaves. A profile of the server's main thread finds no single cause: per span of 2.4 KB about 22 µs read the dialect and its messages, 8 write the row's JSON, 7 encode Native, 7 decode protobuf, 4 tell live viewers, 9 collect garbage; the engine adds what indexes and merges cost. Reading in worker threads would help where there are more cores.",
  ],
  [
    /open 100,000 steps/,
    'half of it is the server (it assembles the session and writes 44 MB of JSON), half the browser, which reads them; the page itself needs less than 200 ms.',
  ],
]
