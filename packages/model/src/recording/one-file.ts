import type { Recording } from './recording.ts'
import type { SessionSummary } from '../session/session.ts'
import type { TestReport } from '../statistics/test-report.ts'

/** Where the template of the one-file replay wants its recordings. */
export const ONE_FILE_MARKER = '<!--playhead:recordings-->'

const SESSION_ATTRIBUTE = 'data-playhead-session'
const INDEX_ID = 'index'
const REPORT_ID = 'report'
const PACKED_AT_ONCE = 16

/** A text, gzipped, as base64. */
type Pack = (text: string) => Promise<string>

export type OneFileOptions = {
  /** What the tests came to whose sessions these are. */
  report?: TestReport
  /** A faster way to pack than what browsers have. */
  pack?: Pack
}

/**
 * The one-file replay with these recordings inside. Each is compressed for itself, so that a page with a thousand of
 * them opens at once and unpacks only what is looked at. Nothing of a recording can be read as markup: it is base64.
 */
export async function fillOneFile(
  template: string,
  recordings: readonly Recording[],
  { report, pack = packText }: OneFileOptions = {},
): Promise<string> {
  const at = template.indexOf(ONE_FILE_MARKER)
  if (at < 0) throw new Error(`not a template of the one-file replay: it has no ${ONE_FILE_MARKER}`)
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

/** What the page needs of its own document. */
export type OneFileDocument = { querySelector: (selector: string) => { textContent: string | null } | null }

/** The sessions inside a one-file replay, in their order; undefined when it was never filled. */
export async function readOneFileIndex(document: OneFileDocument): Promise<SessionSummary[] | undefined> {
  const index = await readBlock(document, INDEX_ID)
  return Array.isArray(index) ? (index as SessionSummary[]) : undefined
}

/** What the tests came to whose sessions are inside; undefined when it is no report of tests. */
export async function readOneFileReport(document: OneFileDocument): Promise<TestReport | undefined> {
  const report = await readBlock(document, REPORT_ID)
  return report === undefined ? undefined : (report as TestReport)
}

/** One recording of a one-file replay, as it was written; whoever shows it looks at it with `parseRecording` first. */
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

/** Arguments of one call are limited: long data is turned in pieces. */
const PIECE = 32_768

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE))
  return btoa(text)
}
