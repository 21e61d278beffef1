import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Step, StepSkeleton } from '@playhead/model'
import type { Context } from 'hono'
import { GrowingBuffer } from '../log/growing-buffer.ts'
import type { ShortenedSession } from '../sessions/long-session.ts'
import { storedJsonOf } from '../store/stored-fields.ts'

type OneSession = ShortenedSession & { tapeGaps?: unknown[]; share?: object }
type ShownStep = OneSession['steps'][number]

/** Like `respondWithSession`, for routes that set no headers: a short session goes straight to the connection. */
export function sendSession(context: Context, body: OneSession): never {
  return isLong(body) ? respondWithSession(context, body) : (sendJson(context, sessionJson(body)) as never)
}

/** A long session is streamed, or has a skeleton that was written before. */
export function respondWithSession(context: Context, body: OneSession): never {
  if (body.skeleton !== undefined) return skeletonResponse(body, body.skeleton) as never
  return isLong(body) ? (streamSession(body) as never) : respondWithSteps(context, body)
}

function isLong({ skeleton, steps }: OneSession): boolean {
  return skeleton !== undefined || steps.length >= MIN_STREAMED_STEPS
}

/** Not typed by Hono, whose JSON types do not terminate on nested attributes; the schemas check these types instead. */
export function respondWithSteps(context: Context, body: OneSession | Step | { steps: Step[] }): never {
  return context.json<object>(body, 200) as never
}

/**
 * Responds with JSON on the connection itself. Hono makes a stream of it, and waits for its end with a timer: of 100 KB, that takes
 * one or two milliseconds. Headers that were set on the context are not sent, so it is only for routes without any.
 */
function sendJson(context: Context, json: Buffer): Response {
  const headers = { 'content-type': 'application/json', 'content-length': String(json.length) }
  const { outgoing } = (context.env ?? {}) as { outgoing?: ServerResponse }
  // A tool of coding agents asks the app without a connection.
  if (outgoing === undefined) return context.body(new Uint8Array(json), 200, headers)
  outgoing.writeHead(200, headers)
  outgoing.end(json)
  return RESPONSE_ALREADY_SENT
}

const FIRST_BYTES = 16 * 1024

/** Writes what `JSON.stringify` would. Half of a session are attributes, which are copied as they are stored. */
export function sessionJson({ session, steps, ...rest }: OneSession): Buffer {
  const stored = steps.map(({ attributes }) =>
    attributes === undefined ? undefined : storedJsonOf(attributes),
  )
  const storedBytes = stored.reduce((bytes, text) => bytes + (text?.length ?? 0), 0)
  const json = new GrowingBuffer(FIRST_BYTES + 3 * storedBytes)
  json.writeText(`{"session":${JSON.stringify(session)},"steps":[`)
  for (const [index, step] of steps.entries()) {
    if (index > 0) json.writeText(',')
    const text = stored[index]
    if (text === undefined) json.writeText(JSON.stringify(step))
    else writeStep(json, step, text)
  }
  const fields = JSON.stringify(rest).slice(1, -1)
  json.writeText(fields === '' ? ']}' : `],${fields}}`)
  return json.contents()
}

function writeStep(json: GrowingBuffer, { attributes: _, ...others }: ShownStep, attributes: Buffer): void {
  json.writeText(`${JSON.stringify(others).slice(0, -1)},"attributes":`)
  json.writeBytes(attributes)
  json.writeText('}')
}

/** As long as their sessions are in the reader's cache: whoever opens one follows links into it, and reloads it. */
const writtenSkeletons = new WeakMap<StepSkeleton, Uint8Array>()

/** Writes the skeleton once: it has megabytes, and the browser asks for the page's files at the same time. */
function skeletonResponse({ skeleton: _, ...rest }: OneSession, skeleton: StepSkeleton): Response {
  let written = writtenSkeletons.get(skeleton)
  if (written === undefined) writtenSkeletons.set(skeleton, (written = Buffer.from(JSON.stringify(skeleton))))
  const head = Buffer.from(`${JSON.stringify(rest).slice(0, -1)},"skeleton":`)
  const body = Buffer.concat([head, written, Buffer.from('}')])
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}

const MIN_STREAMED_STEPS = 4_000
const STEPS_PER_CHUNK = 2_000

/** Stringifies a long session in chunks, so that the client gets the first early and other requests are not blocked. */
export function streamSession(session: OneSession): Response {
  const bytes = ReadableStream.from(encode(chunksOf(session)))
  return new Response(bytes, { headers: { 'content-type': 'application/json' } })
}

function* chunksOf({ session, steps, ...rest }: OneSession): Generator<string> {
  yield `{"session":${JSON.stringify(session)},"steps":[`
  for (let at = 0; at < steps.length; at += STEPS_PER_CHUNK) {
    const chunk = JSON.stringify(steps.slice(at, at + STEPS_PER_CHUNK)).slice(1, -1)
    yield at === 0 ? chunk : `,${chunk}`
  }
  const fields = JSON.stringify(rest).slice(1, -1)
  yield fields === '' ? ']}' : `],${fields}}`
}

function* encode(chunks: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  for (const chunk of chunks) yield encoder.encode(chunk)
}
