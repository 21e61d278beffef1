import type { Session, Step } from '@playhead/model'
import { expect, test } from 'vitest'
import { streamSession } from './session-routes.ts'

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
