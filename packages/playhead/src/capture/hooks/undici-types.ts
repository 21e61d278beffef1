/** What undici gives a dispatcher: the parts that are looked at here. */
export type DispatchOptions = {
  origin?: string | URL
  path?: string
  method?: string
  body?: unknown
  headers?: unknown
}

/** A handler in the style of undici up to 6, which 7 still takes and Node's own fetch still uses. */
export type OldHandler = {
  onConnect?(abort: Abort, context?: unknown): unknown
  onResponseStarted?(): unknown
  onHeaders?(status: number, rawHeaders: unknown, resume: () => void, statusText: string): unknown
  onData?(chunk: Uint8Array): unknown
  onComplete?(trailers: unknown): unknown
  onError?(error: unknown): unknown
  onUpgrade?(status: number, rawHeaders: unknown, socket: unknown): unknown
  onBodySent?(chunk: unknown): unknown
  onRequestSent?(): unknown
}

/** A handler in the style of undici from 7 on. */
export type NewHandler = {
  onRequestStart?(controller: Controller, context: unknown): unknown
  onRequestUpgrade?(controller: Controller, status: number, headers: unknown, socket: unknown): unknown
  onResponseStarted?(): unknown
  onResponseStart?(controller: Controller, status: number, headers: unknown, statusText: string): unknown
  onResponseData?(controller: Controller, chunk: Uint8Array): unknown
  onResponseEnd?(controller: Controller, trailers: unknown): unknown
  onResponseError?(controller: Controller, error: unknown): unknown
  onBodySent?(chunk: unknown): unknown
  onRequestSent?(): unknown
}

export type Abort = (reason?: unknown) => unknown

export type Controller = { aborted?: boolean }

export type Handler = OldHandler & NewHandler

export type Dispatch = (options: DispatchOptions, handler: Handler) => boolean

export type Dispatcher = { dispatch: Dispatch }
