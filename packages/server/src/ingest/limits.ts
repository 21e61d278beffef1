const MB = 1024 * 1024

/** The largest request body, before and after inflation: a 20 MB attribute shall cost its span, not its batch. */
export const MAX_BODY_BYTES = 64 * MB

/** Request bytes held at once over all requests: four of the largest, or a thousand of the usual ones. */
export const MAX_BYTES_IN_FLIGHT = 256 * MB

/** Larger bodies may hold three quarters of that: however many of them come slowly or stop, usual ones still get in. */
export const LARGE_BODY_BYTES = 4 * MB
export const SHARE_OF_LARGE_BODIES = 0.75

/** Up to here a body is inflated synchronously: 1.5 times as fast as a stream, and short enough not to stall other requests. */
export const MAX_SYNC_INFLATE_BYTES = 1 * MB

/** What a synchronous inflation may produce before a stream takes over: about 25 ms of work. */
export const MAX_SYNC_INFLATED_BYTES = 16 * MB

/** What is still read and thrown away after a refusal, so that the client gets to see the answer. */
export const MAX_DISCARDED_BYTES = 256 * MB

/** A span or log record: leaves room for a 5 MB prompt and its answer, and fits one row of the store. */
export const MAX_ITEM_BYTES = 16 * MB

/** A resource, and likewise a scope: sent once, stored with every span. Our recordings reach 2 KB. */
export const MAX_RESOURCE_BYTES = 64 * 1024

/** Copies of resource and scope in one request: 10,000 spans with a resource of 6 KB. */
export const MAX_ORIGIN_COPIES_BYTES = 64 * MB

/** Our recordings reach 40; a conversation of a thousand messages, flattened, has about 10,000. */
export const MAX_ATTRIBUTES = 16_384

/** Lists and maps inside each other. Our recordings reach 5; 64 cannot exhaust the stack. */
export const MAX_VALUE_DEPTH = 64

/** Named rejections in one request. Beyond it the body is not a batch with bad spans, it is noise. */
export const MAX_REJECTIONS = 16_384

/** Heap for one decoded request besides its text: two bytes of protobuf can ask for an event of 250. */
export const MAX_DECODED_HEAP_BYTES = 256 * MB

/** The same for one item: a million numbers of an embedding fit. */
export const MAX_ITEM_HEAP_BYTES = 64 * MB

/** Rough costs on Node 24's heap: a list, map or event; an entry of a map; an element of a list. */
export const CONTAINER_HEAP_BYTES = 256
export const ENTRY_HEAP_BYTES = 128
export const ELEMENT_HEAP_BYTES = 16

/** A smaller JSON body cannot fill the heap whatever it says, and is parsed without being counted first. */
export const MAX_UNCOUNTED_JSON_BYTES = 4 * MB

/** Objects and lists in one JSON body: MAX_BODY_BYTES of the shortest attributes have 3.9 million. */
export const MAX_JSON_CONTAINERS = 4_194_304

/** Nobody traced anything earlier, so the sender mistook the unit (seconds, milliseconds) or has no clock. */
export const MIN_TIME_NS = BigInt(Date.UTC(1990, 0, 1)) * 1_000_000n

/** Stays clear of 2262, where the store's nanoseconds end. */
export const MAX_TIME_NS = BigInt(Date.UTC(2200, 0, 1)) * 1_000_000n
