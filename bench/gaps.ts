/** Why a target may be missed, found by profiling; said on the page beneath the figures that miss it. */
export const gaps: readonly (readonly [RegExp, string])[] = [
  [
    /memory, idle/,
    "Most of it is code: the engine maps ClickHouse's library and touches about 200 MB of it, which the kernel can drop; the two processes' own memory, which it can't, is about 75 MB each (`RssAnon` in /proc/<pid>/status).",
  ],
  [
    /on disk per span/,
    'Two fifths of it are the attributes as they arrived, a third is the text index, a fifth the previews of input and output (the rows beneath). Without the previews, which could be made when they are read, it would be within the target; opening a session would then have to read its payloads.',
  ],
  [
    /memory at .* peak/,
    'The rate is more than two cores take (below), so requests and rows wait in memory for their turn.',
  ],
  [
    /^ingest, |acknowledge at 20k|visible after the acknowledgement, at 30k/,
    "It is processor time: client, server and engine share two cores, and a span takes more of them than the target leaves. A profile of the server's main thread finds no single cause: per span of 2.4 KB about 22 µs read the dialect and its messages, 8 write the row's JSON, 7 encode Native, 7 decode protobuf, 4 tell live viewers, 9 collect garbage; the engine adds what indexes and merges cost. Reading in worker threads would help where there are more cores.",
  ],
  [
    /^open a session|^list 50|^text search/,
    "A statement costs the engine 3 ms of a processor and 0.3 ms more for each column that it names, whatever the number of rows: 24 for a session's outlines, 16 for its payloads (read at the same time), 31 for a page of a list. A profile puts more than half of that (54 % of the samples) into analysing and planning, 29 % into reading. ClickHouse's client adds a millisecond, a timer that it waits for before every request. A list that does not find a page of sessions in the last day asks again for 14 days, and then for all; where the same question is asked again, as here, it begins where the answer was found. A rare word is looked up in the index of every part of the store.",
  ],
  [
    /^drag: frame/,
    "A frame in which the list moves keeps the page's own thread busy for about 15 ms (a trace: 7.5 of script that renders the rows, 5 of layout, 2.5 of painting), which leaves little of its 16.7; the browser of the benchmark has no graphics processor, so it rasterises and composes on the same two cores that the server and the measuring take.",
  ],
  [
    /open 100,000 steps/,
    'Half of it is the server (it assembles the session and writes 44 MB of JSON), half the browser, which reads them; the page itself needs less than 200 ms.',
  ],
]
