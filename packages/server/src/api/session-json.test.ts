import type { Session, Step } from '@playhead/model'
import { expect, test } from 'vitest'
import { noteStoredJson } from '../store/stored-json.ts'
import { sessionJson } from './session-json.ts'

const step = (id: string, attributes?: Step['attributes']) =>
  ({ id, name: `„${id}“ 🙂`, ...(attributes !== undefined && { attributes }), logs: [] }) as unknown as Step

const session = { id: 'a' } as Session['session']

test.each([0, 1, 3])('%s steps are written as JSON.stringify writes them', (count) => {
  const steps = Array.from({ length: count }, (_, index) =>
    step(`${index}`, index === 1 ? undefined : { text: `"ä" ${index}` }),
  )
  for (const rest of [{}, { scores: [], tapeGaps: [{ code: 'no-output' }] }]) {
    const read = { session, steps, ...rest }

    expect(sessionJson(read).toString()).toBe(JSON.stringify(read))
  }
})

test('attributes are copied as they are stored', () => {
  const stored = '{"text": "„ä“ \\ud83d\\ude42", "large": 12345678901234567890}'
  const attributes = JSON.parse(stored) as NonNullable<Step['attributes']>
  noteStoredJson(attributes, Buffer.from(stored))
  const read = { session, steps: [step('1', attributes), step('2', { ...attributes })] }

  const json = sessionJson(read).toString()

  expect(json.split(stored)).toHaveLength(2)
  expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(read)))
})
