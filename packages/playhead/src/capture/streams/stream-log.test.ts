import { expect, test } from 'vitest'
import { StreamLog } from './stream-log.ts'

test('neighbouring chunks are joined if there are many, with the time of the first', () => {
  const log = new StreamLog()
  let text = ''
  for (let index = 0; index < 10_000; index++) {
    log.add(index, `${index} `)
    text += `${index} `
  }
  const { json, isTruncated } = log.toJson(text, 1_000_000)!
  const chunks = JSON.parse(json) as [number, string][]
  expect(isTruncated).toBe(false)
  expect(chunks.length).toBeLessThanOrEqual(512)
  expect(chunks.map(([, piece]) => piece).join('')).toBe(text)
  expect(chunks[0]![0]).toBe(0)
  expect(chunks.every(([offset], index) => index === 0 || offset > chunks[index - 1]![0])).toBe(true)
})

test('a redacted text is split over the same times', () => {
  const log = new StreamLog()
  for (const [offset, piece] of [
    [1, 'aaaa'],
    [2, 'bb'],
    [3, 'cc'],
  ] as const)
    log.add(offset, piece)
  expect(log.toJson('1234', 1000)).toEqual({ json: '[[1,"12"],[2,"3"],[3,"4"]]', isTruncated: false })
  expect(log.toJson('', 1000)).toEqual({ json: '[[1,""],[2,""],[3,""]]', isTruncated: false })
})

test('the log stays within its limit', () => {
  const log = new StreamLog()
  for (let index = 0; index < 100; index++) log.add(index, 'x'.repeat(100))
  const { json, isTruncated } = log.toJson(log.text, 2000)!
  expect(isTruncated).toBe(true)
  expect(json.length).toBeLessThanOrEqual(2000)
  expect(new StreamLog().toJson('', 100)).toBeUndefined()
})
