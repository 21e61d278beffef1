import { GrowingBuffer } from '../log/growing-buffer.ts'
import type { ShortenedSession } from '../sessions/long-session.ts'
import { storedJsonOf } from '../store/stored-json.ts'

type Step = ShortenedSession['steps'][number]

const FIRST_BYTES = 16 * 1024

/** Writes what `JSON.stringify` would. Half of a session are attributes, which are copied as they are stored. */
export function sessionJson({ session, steps, ...rest }: ShortenedSession): Buffer {
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

function writeStep(json: GrowingBuffer, { attributes: _, ...others }: Step, attributes: Buffer): void {
  json.writeText(`${JSON.stringify(others).slice(0, -1)},"attributes":`)
  json.writeBytes(attributes)
  json.writeText('}')
}
