import { expect, test } from 'vitest'
import { outline } from '../../test/outline.ts'
import { sessionOf } from '../../test/session-of.ts'
import type { StepContent } from './step-draft.ts'
import { describeAbort } from './aborted-stream.ts'

const abortOf = (content?: Omit<StepContent, 'attributes'>, isStreamAborted = true) =>
  describeAbort(
    sessionOf(
      [outline({ id: 'call', kind: 'llm', to: 1200, ...(isStreamAborted && { isStreamAborted }) })],
      content === undefined ? {} : { call: content },
    ).steps[0]!,
  )

test('an aborted stream tells how far it got', () => {
  const chunks: [number, string][] = [
    [300, 'Hel'],
    [450, 'lo 👋'],
  ]

  expect(abortOf({ streaming: { chunks } })).toBe(
    'Stream aborted after 1.2s: 7 characters had arrived, the last at 450ms',
  )
  expect(
    abortOf({ messages: [{ role: 'assistant', isOutput: true, parts: [{ type: 'text', text: 'H' }] }] }),
  ).toBe('Stream aborted after 1.2s: 1 character had arrived')
  expect(abortOf({ messages: [] })).toBe('Stream aborted after 1.2s: no text had arrived')
  expect(abortOf()).toBe('Stream aborted after 1.2s')
  expect(abortOf({ streaming: { chunks } }, false)).toBeUndefined()
})
