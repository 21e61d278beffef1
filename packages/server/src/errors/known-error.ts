/** The HTTP status of each error code. A new code is one line here. */
export const errorStatus = {
  AMBIGUOUS_ID: 409,
  BAD_REQUEST: 400,
  ADDRESS_NOT_ALLOWED: 400,
  OTLP_UNREADABLE: 400,
  SQL_REFUSED: 400,
  UNAUTHORIZED: 401,
  KEY_EXPIRED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  STEP_NOT_FOUND: 404,
  CONFLICT: 409,
  SHARE_EXPIRED: 410,
  SHARE_REVOKED: 410,
  SHARE_GONE: 410,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TOO_SLOW: 408,
  BODY_TOO_LARGE: 413,
  QUOTA_EXCEEDED: 429,
  TOO_MANY_LOGINS: 429,
  UNSUPPORTED_ENCODING: 415,
  UNSUPPORTED_MEDIA_TYPE: 415,
  ADDRESS_UNAVAILABLE: 503,
  DATA_DAMAGED: 503,
  DATA_LOCKED: 503,
  DATA_UNWRITABLE: 503,
  DISK_FULL: 503,
  ENGINE_UNAVAILABLE: 503,
  PORT_IN_USE: 503,
  SERVER_BUSY: 503,
  STORE_UNAVAILABLE: 503,
  TLS_UNUSABLE: 503,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof errorStatus

export type KnownErrorOptions = { cause?: unknown; retryAfterSeconds?: number }

/** An expected error: the message says what happened and how to fix it. Anything else that is thrown is a bug. */
export class KnownError extends Error {
  override readonly name = 'KnownError'
  readonly code: ErrorCode
  /** When to retry; null if a retry cannot help. */
  readonly retryAfterSeconds: number | null

  constructor(code: ErrorCode, message: string, options: KnownErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds ?? (errorStatus[code] === 503 ? 1 : null)
  }
}

export type ErrorResponse = {
  status: (typeof errorStatus)[ErrorCode] | 500
  headers: Record<string, string>
  body: { error: { code: string; message: string } }
}

/** The HTTP response for a known error. */
export function toErrorResponse(error: KnownError): ErrorResponse {
  return {
    status: errorStatus[error.code],
    headers: error.retryAfterSeconds === null ? {} : { 'retry-after': String(error.retryAfterSeconds) },
    body: { error: { code: error.code, message: error.message } },
  }
}
