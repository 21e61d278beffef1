import { expect, test } from 'vitest'
import { addTerm, parseFilter, removeTerm, writeTerm } from './parse-filter.ts'

const problems = (text: string) => parseFilter(text).terms.flatMap(({ problem }) => problem ?? [])

test('the example of the design', () => {
  const { terms, parameters } = parseFilter('status:fail tool:fetch_customer_data cost:>0.01 "charged twice"')

  expect(parameters).toEqual({
    status: ['fail'],
    tool: ['fetch_customer_data'],
    cost: '>0.01',
    text: 'charged twice',
  })
  expect(terms.map(({ key, text }) => [key?.name, text])).toEqual([
    ['status', 'status:fail'],
    ['tool', 'tool:fetch_customer_data'],
    ['cost', 'cost:>0.01'],
    [undefined, '"charged twice"'],
  ])
})

test.each([
  ['', {}],
  ['   ', {}],
  ['charged twice', { text: 'charged twice' }],
  ['tag:a tag:b', { tag: ['a', 'b'] }],
  ['tag:"a b" name:"say \\"hi\\" \\\\ bye"', { tag: ['a b'], name: 'say "hi" \\ bye' }],
  ['env:prod state:lost run:r1', { environment: 'prod', status: ['lost'], runId: 'r1' }],
  ['STATUS:fail', { status: ['fail'] }],
  ['failedTool:refund testFile:a/b.test.ts', { failedTool: ['refund'], testFile: 'a/b.test.ts' }],
  ['tool:mcp:search', { tool: ['mcp:search'] }],
  ['https://example.org/x 10:30', { text: 'https://example.org/x 10:30' }],
  ['before "status:fail" after', { text: 'before status:fail after' }],
  ['duration:1s..5m demo:true', { duration: '1s..5m', demo: 'true' }],
  ['user:<script>alert(1)</script>', { user: '<script>alert(1)</script>' }],
])('%s', (text, parameters) => {
  expect(parseFilter(text).parameters).toEqual(parameters)
  expect(problems(text)).toEqual([])
})

test.each([
  ['status:broken', 'status must be success, fail, indeterminate, running or lost, not “broken”.'],
  ['cost:cheap', '“cheap” is not an amount in dollars. Use cost:>0.01, cost:<=1 or cost:0.01..0.05.'],
  ['duration:long', '“long” is not a duration. Use duration:>2s, duration:<500ms or duration:1s..5m.'],
  ['demo:maybe', 'demo must be true or false, not “maybe”.'],
  ['tag:', 'tag: needs a value, for example tag:….'],
  ['status:', 'status: needs a value, for example status:success.'],
  [
    'statsu:fail',
    'There is no filter “statsu”. Did you mean status:? To search for these words, put them in quotes.',
  ],
  ['weather:nice', 'There is no filter “weather”. To search for these words, put them in quotes.'],
  ['-tag:x', "-tag:x: filters can't exclude; they only include."],
  ['"charged twice', '"charged twice has no closing quote.'],
  ['name:"x', 'name:"x has no closing quote.'],
])('%s has a problem and is ignored', (text, problem) => {
  expect(problems(text)).toEqual([problem])
  expect(parseFilter(`${text.includes('"') ? '' : `${text} `}tag:kept`).parameters).toEqual({ tag: ['kept'] })
})

test('a key that can be used once is used once', () => {
  expect(problems('cost:>1 cost:<2')).toEqual(['cost: can be used only once.'])
  expect(parseFilter('cost:>1 cost:<2').parameters).toEqual({ cost: '>1' })
})

test('too much text is a problem', () => {
  expect(problems('x'.repeat(401))).toEqual(['You can search for at most 400 characters.'])
  expect(problems('x'.repeat(400))).toEqual([])
})

test('consecutive words are one chip', () => {
  expect(parseFilter('was charged status:fail twice "a b" c').terms.map(({ text }) => text)).toEqual([
    'was charged',
    'status:fail',
    'twice',
    '"a b"',
    'c',
  ])
})

test('every value survives a round trip', () => {
  for (const value of [
    'plain',
    'two words',
    'say "hi"',
    'back\\slash',
    'a:b',
    '"',
    '>1',
    'tab\there',
    '\\" \\',
  ])
    expect(parseFilter(writeTerm('name', value)).parameters).toEqual({ name: value })
})

test('terms are added once and removed by index', () => {
  expect(addTerm('', 'tag:a')).toBe('tag:a')
  expect(addTerm('tag:a x', 'tag:b')).toBe('tag:a x tag:b')
  expect(addTerm('tag:a x', 'tag:a')).toBe('tag:a x')
  expect(removeTerm('tag:a some words cost:>1', 1)).toBe('tag:a cost:>1')
})
