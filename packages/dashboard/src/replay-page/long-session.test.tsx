import { beforeEach, expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { fromSkeleton, toSkeleton } from '@playhead/model'
import { makeSession } from '../../test/make-session.ts'
import { openReplay } from '../../test/open-replay.tsx'

const COUNT = 6_000
const whole = makeSession(
  Array.from({ length: COUNT }, (_, index) => ({
    id: `step-${index}`,
    name: index % 2 === 0 ? 'read_file' : 'write_file',
    offsetMs: index * 20,
    inputPreview: `path="file-${index}.ts"`,
  })),
  { name: 'Long', durationMs: COUNT * 20 },
)
const opened = { ...whole, steps: fromSkeleton(toSkeleton(whole.steps), []) }

const shownPreviews = () =>
  [...document.querySelectorAll('.step-row-preview')].map((preview) => preview.textContent)

beforeEach(() => page.viewport(1440, 900))

function openLong() {
  const requested: string[] = []
  const readPreviews = (_: string, ids: readonly string[]) => {
    requested.push(...ids)
    return Promise.resolve(whole.steps.filter(({ id }) => ids.includes(id)))
  }
  const source = {
    openSession: () => Promise.resolve(opened),
    readSession: () => Promise.resolve(whole),
    readPreviews,
  }
  return { requested, shown: openReplay(whole, source) }
}

test('the rows on the screen get their previews, and no others are requested', async () => {
  const { requested, shown } = openLong()
  await shown
  await expect.poll(shownPreviews).toContain('path="file-3.ts"')
  expect(shownPreviews()).not.toContain('')
  expect(requested.length).toBeLessThan(100)

  document.querySelector('.step-list-scroller')!.scrollTop = 3_000 * 32
  await expect.poll(shownPreviews).toContain('path="file-3010.ts"')
  expect(shownPreviews()).not.toContain('')
  expect(requested.length).toBeLessThan(300)
  expect(new Set(requested).size).toBe(requested.length)
})

test('a search finds steps by previews that were not on the screen', async () => {
  await openLong().shown
  await expect.element(page.getByRole('tree')).toBeVisible()
  await userEvent.keyboard('/file-4711.ts')
  await expect.poll(() => document.querySelector('.step-list-note')?.textContent).toContain('1 step found')
  await expect.poll(shownPreviews).toContain('path="file-4711.ts"')
})
