/** How contenders are measured. The page mentions these values below the figures. */
export const CONNECTIONS = 16
/** The spans sent right before kill -9. */
export const BURST_SPANS = 5_000
/** How often a query is repeated, and for how long at most. */
export const QUERY_REPEATS = 40
export const QUERY_SECONDS = 20
export const MAX_INGEST_SECONDS = 120
