const MB = 1024 * 1024

/** A span or log record: room for a 5 MB prompt and its response, within one row of the store. */
export const MAX_ITEM_BYTES = 16 * MB

/** A resource or a scope: sent once, stored with every span. Our recordings reach 2 KB. */
export const MAX_RESOURCE_BYTES = 64 * 1024

/** Copies of resource and scope in one request: 10,000 spans with a resource of 6 KB. */
export const MAX_ENVELOPE_COPIES_BYTES = 64 * MB

/** Our recordings reach 40; a conversation of a thousand messages, flattened, has about 10,000. */
export const MAX_ATTRIBUTES = 16_384

/** Nested lists and maps. Our recordings reach 5; 64 cannot exhaust the stack. */
export const MAX_VALUE_DEPTH = 64

/** Rejections listed for one request. A body with more is noise, not a batch with some bad spans. */
export const MAX_REJECTIONS = 16_384

/** Heap for one decoded request besides its strings: two bytes of protobuf can ask for an event of 250 bytes. */
export const MAX_DECODED_HEAP_BYTES = 256 * MB

/** The same for one item: a million numbers of an embedding fit. */
export const MAX_ITEM_HEAP_BYTES = 64 * MB

/** Rough sizes on Node 24's heap: a list, map or event; an entry of a map; an element of a list. */
export const CONTAINER_HEAP_BYTES = 256
export const ENTRY_HEAP_BYTES = 128
export const ELEMENT_HEAP_BYTES = 16

/** Smaller JSON bodies cannot fill the heap and are parsed without counting their containers first. */
export const MAX_UNCOUNTED_JSON_BYTES = 4 * MB

/** Objects and lists in one JSON body: MAX_BODY_BYTES of the shortest attributes have 3.9 million. */
export const MAX_JSON_CONTAINERS = 4_194_304

/** Nothing was traced earlier: the sender used another unit (seconds, milliseconds) or has no clock. */
export const MIN_TIME_NS = BigInt(Date.UTC(1990, 0, 1)) * 1_000_000n

/** Below 2262, where the store's nanoseconds end. */
export const MAX_TIME_NS = BigInt(Date.UTC(2200, 0, 1)) * 1_000_000n
