import { SPANS_PER_REQUEST } from '../corpus/request-bodies.ts'
import { BURST_SPANS, CONNECTIONS, QUERY_REPEATS, QUERY_SECONDS } from './parameters.ts'

/** How peers are measured, and the limits of the comparison. Appears on the page below the figures. */
export const PEERS_NOTE = `**How it is measured.** \`npm run bench -- peers\` sends one generated corpus from one client to each contender in turn, as OTLP/HTTP
protobuf (${SPANS_PER_REQUEST} spans per request, ${CONNECTIONS} connections), and queries each one through its own public API. Every contender starts with an empty folder, in the way that the first page
of its documentation describes: on one machine, over loopback, with its default store. The ratio in parentheses is the figure divided by Playhead's figure from the same run. The versions and queries
are in \`bench/peers\`.

- *Until everything is readable* ends when the contender's own span count has reached what it acknowledged.
- *Lost by kill -9*: after another ${BURST_SPANS.toLocaleString('en-US')} spans, all processes of the contender are killed at the last acknowledgement. Then it is restarted, and its spans are counted.
- *On disk* is how much the folder has grown after a regular stop.
- *Memory* covers all processes of the contender, with shared memory counted once.
- Each query is repeated ${QUERY_REPEATS} times, or for ${QUERY_SECONDS} seconds if that is shorter, with a different session, user or word each time.
- *Start* ends with the first list from the store.

**Limits of the comparison.**
- The contenders do different work. Playhead indexes every word, prices calls and derives sessions. Phoenix and MLflow also price calls, and they store evaluations, data sets and (MLflow) models, which this suite does not use.
- The responses differ. *Open* returns all spans with all attributes everywhere, but a *list* returns what each contender puts into its list (the table has the sizes). A session counts as failed if its outcome is a failure (Playhead), if any
  of its spans has an error (Phoenix), or if its first span has an error (MLflow). Playhead looks a word up in an index; MLflow matches any substring.
- Phoenix and MLflow can also use PostgreSQL, which would suit many writers better than SQLite. That needs a second server, and is not measured here. MLflow starts several workers, which is meant for more than two cores.
- Data in the memory of the operating system survives kill -9, but not a power failure. Playhead and MLflow wait for the disk; Phoenix does not. This table does not show the difference.
- Peers run without internet access: telemetry is off in both, and MLflow uses its bundled prices. Everything stays on loopback, except for Phoenix's gRPC port: it listens on every interface, receives nothing, and can't be configured.
- The store is small, because the slowest contender has to finish within minutes. \`query\` and \`storage\` on this page show how Playhead's figures grow with the store; for the others this is not measured.
- We chose the corpus and the queries. Adding a contender takes one small file in \`bench/peers\`.
`
