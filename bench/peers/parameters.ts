/** How contenders are measured; the page says so beneath the figures. */
export const CONNECTIONS = 16
/** Sent right before kill -9. */
export const BURST_SPANS = 5_000
/** How often a question is asked, and for how long where it takes long. */
export const ASKED = 40
export const ASKED_SECONDS = 20
export const MAX_INGEST_SECONDS = 120
