import type { Recording } from './recording.ts'
import type { SessionSummary } from '../session/session.ts'
import type { TestReport } from '../statistics/test-report.ts'

/** The placeholder for the recordings in the template of the one-file replay. */
export const ONE_FILE_MARKER = '<!--playhead:recordings-->'

const SESSION_ATTRIBUTE = 'data-playhead-session'
const INDEX_ID = 'index'
const REPORT_ID = 'report'
const PACKED_AT_ONCE = 16

/** Gzips a text and encodes it as base64. */
type Pack = (text: string) => Promise<string>

export type OneFileOptions = {
  /** The test report that the sessions belong to. */
  report?: TestReport
  /** A faster compressor than the browser's. */
  pack?: Pack
}

/**
 * Embeds recordings into the one-file replay. Each is compressed on its own, so that a page with a thousand of them
 * opens at once and unpacks only what is viewed. They are base64, so that nothing in them can be parsed as markup.
 */
export async function fillOneFile(
  template: string,
  recordings: readonly Recording[],
  { report, pack = packText }: OneFileOptions = {},
): Promise<string> {
  const at = template.indexOf(ONE_FILE_MARKER)
  if (at < 0) throw new Error(`not a template for the one-file replay: it lacks ${ONE_FILE_MARKER}`)
  const blocks = [
    await writeBlock(
      INDEX_ID,
      recordings.map(({ session }) => session),
      pack,
    ),
  ]
  if (report !== undefined) blocks.push(await writeBlock(REPORT_ID, report, pack))
  for (let at = 0; at < recordings.length; at += PACKED_AT_ONCE) {
    const some = recordings.slice(at, at + PACKED_AT_ONCE)
    blocks.push(
      ...(await Promise.all(some.map((recording, index) => writeBlock(String(at + index), recording, pack)))),
    )
  }
  return template.slice(0, at) + blocks.join('\n') + template.slice(at + ONE_FILE_MARKER.length)
}

/** The part of `Document` that is needed. */
export type OneFileDocument = { querySelector: (selector: string) => { textContent: string | null } | null }

/** The sessions in a one-file replay, in order; undefined for an empty template. */
export async function readOneFileIndex(document: OneFileDocument): Promise<SessionSummary[] | undefined> {
  const index = await readBlock(document, INDEX_ID)
  return Array.isArray(index) ? (index as SessionSummary[]) : undefined
}

/** The test report in a one-file replay, if it has one. */
export async function readOneFileReport(document: OneFileDocument): Promise<TestReport | undefined> {
  const report = await readBlock(document, REPORT_ID)
  return report === undefined ? undefined : (report as TestReport)
}

/** One recording of a one-file replay, not validated: pass it to `parseRecording`. */
export function readOneFileRecording(document: OneFileDocument, position: number): Promise<unknown> {
  return readBlock(document, String(position))
}

async function writeBlock(id: string, value: unknown, pack: Pack): Promise<string> {
  const packed = await pack(JSON.stringify(value))
  return `<script type="application/octet-stream" ${SESSION_ATTRIBUTE}="${id}">${packed}</script>`
}

async function packText(text: string): Promise<string> {
  return toBase64(await pass(new TextEncoder().encode(text), new CompressionStream('gzip')))
}

async function readBlock(document: OneFileDocument, id: string): Promise<unknown> {
  const block = document.querySelector(`script[${SESSION_ATTRIBUTE}="${id}"]`)
  if (block === null) return undefined
  const packed = Uint8Array.from(atob(block.textContent ?? ''), (character) => character.charCodeAt(0))
  const bytes = await pass(packed, new DecompressionStream('gzip'))
  return JSON.parse(new TextDecoder().decode(bytes))
}

async function pass(
  bytes: Uint8Array<ArrayBuffer>,
  transform: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(transform)
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

/** A call takes a limited number of arguments, so long data is converted in pieces. */
const PIECE = 32_768

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE))
  return btoa(text)
}
