import { SPANS_PER_REQUEST } from '../request-bodies.ts'
import { ASKED, ASKED_SECONDS, BURST_SPANS, CONNECTIONS } from './parameters.ts'

/** How peers are measured, and what of it is not fair; said on the page beneath the figures. */
export const PEERS_NOTE = `**How.** \`npm run bench -- peers\` sends one generated corpus to each contender in turn, from one client, as OTLP/HTTP protobuf
(${SPANS_PER_REQUEST} spans a request, ${CONNECTIONS} connections), and asks each through its own public interface. Every contender begins with an empty folder and runs as its first page of
documentation starts it: one machine, loopback, the store that it brings. In brackets: the figure divided by Playhead's of the same run. Which versions, and how they are asked, is in \`bench/peers\`.

*Until all can be read* counts until the contender's own count of spans has reached what it acknowledged. *Lost by kill -9*: ${BURST_SPANS.toLocaleString('en-US')} spans more, every process of the
contender ended at the last acknowledgement, started again, counted. *On disk* is what the folder has grown by, after a proper stop. *Memory* is that of all processes it
started, what they share counted once. A question is asked ${ASKED} times, or for ${ASKED_SECONDS} seconds where fewer fit into them, each time about another session, user or word. *Start* is to the first list out of the store.

**What is not fair.**
- Contenders do different work. Playhead indexes every word, prices calls and derives sessions; Phoenix and MLflow also price calls and keep evaluations, data sets and (MLflow) models, which nothing here asks for.
- Answers differ: to *open* brings all spans with all attributes from each; a *list* brings what each puts in its list (the sizes are in the table). A failed session is one whose outcome is a failure (Playhead), one with an error in
  any span (Phoenix), one whose first span has an error (MLflow). A word is looked up in an index by Playhead and is any run of letters for MLflow.
- Phoenix and MLflow can be run on PostgreSQL, which would suit many writers better than SQLite; that needs a second server, and is not measured here. MLflow starts several workers, which is meant for more cores than two.
- kill -9 leaves what the operating system holds in memory. Losing power would not: Playhead and MLflow wait for the disk, Phoenix does not, and this table does not show it.
- Peers run without what would have to be fetched from the internet: telemetry is off in both, and MLflow uses the prices that came with it. All of it stays on loopback, but for Phoenix's port for gRPC: it listens on every interface, is sent nothing, and can't be set otherwise.
- The store is small, because the slowest has to end in minutes. How Playhead's figures grow is said by \`query\` and \`storage\` on this page; how the others' grow is not measured.
- Whoever measures chose the corpus and the questions. It is ours; it takes a small file in \`bench/peers\` to add a contender.
`
