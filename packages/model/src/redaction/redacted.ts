/** What stands where a secret was. */
export const REDACTED = '[redacted]'
