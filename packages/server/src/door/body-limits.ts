const KB = 1024
const MB = 1024 * KB

/** The largest request body, before and after decompression: a 20 MB attribute should cost its span, not its batch. */
export const MAX_BODY_BYTES = 64 * MB

/** Body bytes of all requests in memory: four of the largest, or a thousand typical ones. */
export const MAX_BYTES_IN_FLIGHT = 256 * MB

/** Large bodies may hold three quarters of that: typical ones still get in while large ones are slow or stall. */
export const LARGE_BODY_BYTES = 4 * MB
export const SHARE_OF_LARGE_BODIES = 0.75

/** Bodies up to this size are decompressed synchronously: 1.5 times as fast as a stream, without blocking other requests for long. */
export const MAX_SYNC_INFLATE_BYTES = 1 * MB

/** The most that is decompressed synchronously, about 25 ms of work; beyond it a stream takes over. */
export const MAX_SYNC_INFLATED_BYTES = 16 * MB

/** Bytes read and discarded after a refusal, so that the client gets to see the response. */
export const MAX_DISCARDED_BYTES = 256 * MB

/** What one project, or one address, may hold of the bytes in flight: others still get in. */
export const SHARE_OF_ONE_CALLER = 0.875

/** A body that anyone may send, such as a password: it is read before we know who sends it. */
export const MAX_PUBLIC_BODY_BYTES = 8 * KB

/** Such bodies that may arrive at once, in all and from one address. A new one takes the place of the oldest. */
export const MAX_PUBLIC_BODIES = 256
export const MAX_PUBLIC_BODIES_PER_ADDRESS = 16

/** JSON that people and programs send to the API. Only prices and lists of sessions need more than a few lines. */
export const MAX_JSON_BODY_BYTES = 64 * KB
export const MAX_PRICES_BODY_BYTES = 512 * KB

/** A job of `playhead dev`, with what to change at its step, and what a run says about itself. */
export const MAX_EDIT_BODY_BYTES = 512 * KB

/** A body that a route does not want is ignored up to this size. */
export const MAX_IGNORED_BODY_BYTES = 64 * KB

/** A backup. It is streamed to the store, so this bounds time and disk, not memory. */
export const MAX_BACKUP_BYTES = 1024 * 1024 * MB

/** How long a body may take to arrive: a public one, JSON, and an upload (64 MB at 2 Mbit/s). */
export const PUBLIC_ARRIVAL_MS = 10_000
export const JSON_ARRIVAL_MS = 30_000
export const UPLOAD_ARRIVAL_MS = 300_000

/** After a refusal, the connection stays open this long, so that the client gets to see the response. */
export const LINGER_MS = 2_000
/** What is read and dropped meanwhile: clients that read the response only after they have sent everything still see it. */
export const LINGER_BYTES = 1 * MB
/** The same for all callers that we don't know, in a second. Whatever is read from a socket costs garbage collection. */
export const LINGER_BYTES_PER_SECOND = 4 * MB

/** How long a client may leave a response unread. */
export const UNREAD_MS = 60_000
