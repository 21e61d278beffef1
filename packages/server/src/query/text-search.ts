import type { Store } from '../store/connect.ts'
import { hourBucket } from '../store/sessions-table.ts'
import { SEARCH_TEXT } from '../store/steps-table.ts'
import type { WordMarks } from '../store/word-marks.ts'
import { storedWord, wordsOf } from '../store/words-table.ts'

/** With more sessions than this, a page of the newest is usually found in a recent window. */
const MAX_FOUND = 1_000
/** Texts that many sessions have, which need not be counted again. */
const commonTexts = new Set<string>()
const MAX_COMMON_TEXTS = 1_000

/**
 * The sessions with a text; undefined if there are many, or no text. For statements that would each look it up again, or more
 * than once.
 */
export async function findByText(
  { client, words }: Pick<Store, 'client' | 'words'>,
  project: string,
  text: string | undefined,
  most = MAX_FOUND,
): Promise<string[] | undefined> {
  if (!text) return undefined
  const key = `${project}\0${text}`
  if (commonTexts.has(key)) return undefined
  if (await isCommon(client, project, text, most)) return noteCommon(key)
  const { sql, params } = textConditions(words, text)
  const result = await client.query({
    query: `SELECT DISTINCT id FROM (${sql}) LIMIT {limit:UInt32}`,
    query_params: { ...params, project, limit: most + 1 },
    format: 'JSONEachRow',
  })
  const rows = await result.json<{ id: string }>()
  return rows.length <= most ? rows.map(({ id }) => id) : noteCommon(key)
}

function noteCommon(key: string): undefined {
  if (commonTexts.size >= MAX_COMMON_TEXTS) commonTexts.clear()
  commonTexts.add(key)
  return undefined
}

/**
 * Whether many sessions have all words in one batch of their steps. That can be told from the first ones, whereas the sessions with
 * each word have to be compared down to the last. False if it is not known, and for one word, whose sessions need no comparison.
 */
async function isCommon(
  client: Store['client'],
  project: string,
  text: string,
  most: number,
): Promise<boolean> {
  const wanted = isSubstringSearch(text) ? [] : waysToWrite(text.toLowerCase())
  if (wanted.length < 2) return false
  const all = [...new Set(wanted.flat(2))]
  const hasWord = (word: string) => `has(words, ${storedWord(`{word${all.indexOf(word)}:String}`)})`
  const result = await client.query({
    query: `SELECT count() AS found FROM (SELECT DISTINCT session_id FROM words
      WHERE project = {project:String} AND ${allOf(wanted, hasWord)} LIMIT {limit:UInt32})`,
    query_params: { project, limit: most + 1, ...namedWords(all) },
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ found: number }>()
  return row !== undefined && row.found > most
}

/** Parameters for `textConditions`: only sessions that began at this time or later are wanted. */
export function newerThan(timeMs: number): { wordsBucket: number } {
  return { wordsBucket: hourBucket(timeMs) }
}

/**
 * Selects the sessions of a project that contain every word, in any of their steps. A text without words (only symbols), or in
 * a script without spaces between words, is searched as a substring of a step.
 */
export function textConditions(
  words: WordMarks,
  text: string,
): { sql: string; params: Record<string, unknown> } {
  const lower = text.toLowerCase()
  if (isSubstringSearch(text))
    return { sql: `SELECT id FROM (${bySession(substringHits)})`, params: { text: lower } }
  const wanted = waysToWrite(lower)
  const all = [...new Set(wanted.flat(2))]
  const params = {
    wordsBucket: EVERY_BUCKET,
    anyWord: all.join(' '),
    ...namedWords(all),
  }
  const hits = all.map((_, index) => indexedHits(index))
  const found = `SELECT id FROM (${bySession([...hits, unindexedHits(words, all.length)].join(' UNION ALL '))})`
  const sql = all.length === 1 ? found : `${found} GROUP BY id HAVING ${hasAll(wanted, all)}`
  return { sql, params }
}

const EVERY_BUCKET = 4_294_967_295

const substringHits = `SELECT session_id AS id, '' AS word FROM steps
  WHERE project = {project:String} AND position(${SEARCH_TEXT}, {text:String}) > 0`

/** The bucket of words is never earlier than the start of their session, so this leaves out only sessions that nobody wants. */
function indexedHits(index: number): string {
  const word = storedWord(`{word${index}:String}`)
  return `SELECT session_id AS id, ${word} AS word FROM words
    WHERE project = {project:String} AND bucket <= {wordsBucket:UInt32} AND has(words, ${word})`
}

/**
 * Steps whose words are not in the table yet. PREWHERE, because a block of the table may have steps of any segment: without it,
 * the engine reads the texts of a block before it has looked at the segments.
 */
function unindexedHits(words: WordMarks, count: number): string {
  const stored = Array.from({ length: count }, (_, index) => storedWord(`{word${index}:String}`))
  const own = `arrayMap(word -> ${storedWord('word')}, ${wordsOf(SEARCH_TEXT)})`
  return `SELECT session_id AS id, arrayJoin(arrayIntersect(${own}, [${stored.join(', ')}])) AS word FROM steps
    PREWHERE project = {project:String} AND ${words.missing} WHERE hasAnyTokens(${SEARCH_TEXT}, {anyWord:String})`
}

/** A trace that joined another one's session counts as that session. */
function bySession(hits: string): string {
  return `SELECT if(joined.session = '', found.id, joined.session) AS id, found.word AS word
    FROM (${hits}) AS found
    LEFT ANY JOIN (SELECT trace_id AS id, session_id AS session FROM joined_traces FINAL WHERE project = {project:String}) AS joined
    USING (id)`
}

/** For each word, the sets of words of which one is stored: Python's json.dumps writes é as \u00e9. */
function waysToWrite(text: string): string[][][] {
  return splitWords(text).map((word) => {
    const escaped = splitWords(asJsonEscapes(word))
    return escaped.length === 1 && escaped[0] === word ? [[word]] : [[word], escaped]
  })
}

function namedWords(all: readonly string[]): Record<string, string> {
  return Object.fromEntries(all.map((word, index) => [`word${index}`, word]))
}

function hasAll(wanted: readonly string[][][], all: readonly string[]): string {
  return allOf(
    wanted,
    (word) => `has(groupUniqArray(word), ${storedWord(`{word${all.indexOf(word)}:String}`)})`,
  )
}

function allOf(wanted: readonly string[][][], has: (word: string) => string): string {
  return wanted
    .map((ways) => `(${ways.map((words) => words.map(has).join(' AND ')).join(' OR ')})`)
    .join(' AND ')
}

/** To the index, text in a script without spaces is one long word. */
function isSubstringSearch(text: string): boolean {
  return /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(text) || splitWords(text).length === 0
}

/** As the store splits text. */
function splitWords(text: string): string[] {
  return [...new Set(text.split(/[^0-9A-Za-z\u0080-\uffff]+/).filter((word) => word !== ''))]
}

function asJsonEscapes(text: string): string {
  return text.replaceAll(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
