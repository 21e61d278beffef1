import type { Session, Step } from '@playhead/model'
import { expect, test } from 'vitest'
import { noteStoredJson } from '../store/stored-fields.ts'
import { sessionJson, streamSession } from './session-response.ts'

test.each([0, 1, 1_999, 2_000, 2_001, 6_000])(
  'streaming %s steps gives the same JSON as stringifying them at once',
  async (count) => {
    const steps = Array.from({ length: count }, (_, index) => ({ id: `ä ${index}`, offsetMs: index }) as Step)
    const answer = { session: { id: 'a' }, steps } as Session

    const response = streamSession(answer)

    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.text()).toBe(JSON.stringify(answer))
  },
)

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
