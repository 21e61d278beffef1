import * as fc from 'fast-check'

const nastyTexts = [
  "' OR 1=1 --",
  "'); DROP TABLE steps; --",
  '\\',
  '\u0000',
  '%',
  '{project:String}',
  "') SETTINGS max_execution_time=0 --",
  '../../../etc/passwd',
  '>=',
  '1..',
  '-1',
  '1e999',
  'NaN',
  '9999-12-31T23:59:59Z',
  '٣',
  'a'.repeat(3_000),
]

const anyValue = fc.oneof(
  fc.constantFrom(...nastyTexts),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.integer().map(String),
)

const parameters =
  'status tag model tool agent error failedTool name user thread text ' +
  'environment branch test testFile runId variant demo cost duration ' +
  'from to limit cursor sort order project field contains groupBy interval timeZone payloads id __proto__'

const paths = ['/api/sessions', '/api/stats', '/api/tests', '/api/values', '/api/projects', '/api/keys']

const withParameters = fc
  .record({
    path: fc.constantFrom(...paths),
    query: fc.array(fc.tuple(fc.constantFrom(...parameters.split(' ')), anyValue), { maxLength: 4 }),
  })
  .map(({ path, query }) => `${path}?${new URLSearchParams(query).toString()}`)

const withId = fc
  .tuple(
    anyValue,
    fc.constantFrom('', '/recording', '/recording.otlp', '/recording.html', '/steps/0123456789abcdef', '/x'),
  )
  .map(([id, rest]) => `/api/sessions/${encodeURIComponent(id)}${rest}`)

/** A query to the API with hostile or invalid parameters. */
export const anyQuery: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: withParameters },
  { weight: 1, arbitrary: withId },
)
