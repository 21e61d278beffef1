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

const rows = () => [...document.querySelectorAll<HTMLElement>('.step-row')]
const positions = () => rows().map(({ id }) => Number(id.slice('row-'.length)))
const inOrder = () => positions().toSorted((left, right) => left - right)
const timeOf = (position: number) =>
  position * 20 < 60_000
    ? ((position * 20) / 1000).toFixed(3)
    : `0${Math.floor((position * 20) / 60_000)}:${(((position * 20) % 60_000) / 1000).toFixed(3).padStart(6, '0')}`
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))

/** Events that the page gets between two frames, as from a mouse. */
function drag(type: string, share: number): void {
  const plot = document.querySelector<HTMLElement>('.timeline-plot')!
  const { left, width } = plot.getBoundingClientRect()
  const place = { pointerId: 1, button: 0, buttons: 1, altKey: true, clientX: left + width * share }
  plot.dispatchEvent(new PointerEvent(type, { bubbles: true, ...place }))
}

const shownStep = () => document.querySelector('.transport-count b')?.textContent

test('of several moves between two frames only the last counts, and nothing is lost when the button is released', async () => {
  await openLong().shown
  await expect.element(page.getByRole('tree')).toBeVisible()
  document.querySelector<HTMLElement>('.timeline-plot')!.setPointerCapture = () => undefined
  drag('pointerdown', 0.1)
  await expect.poll(shownStep).toBe('601')

  drag('pointermove', 0.4)
  drag('pointermove', 0.5)
  await Promise.resolve()
  expect(shownStep()).toBe('601')
  await nextFrame()
  await expect.poll(shownStep).toBe('3,001')

  drag('pointermove', 0.75)
  drag('pointerup', 0.75)
  await expect.poll(shownStep).toBe('4,501')
  await nextFrame()
  expect(shownStep()).toBe('4,501')
})

test('while the playhead is dragged, rows are used again for steps that look alike, and show their own step', async () => {
  await openLong().shown
  await expect.element(page.getByRole('tree')).toBeVisible()
  document.querySelector<HTMLElement>('.timeline-plot')!.setPointerCapture = () => undefined
  drag('pointerdown', 0.1)
  await expect.poll(shownStep).toBe('601')
  drag('pointermove', 0.3)
  await expect.poll(shownStep).toBe('1,801')
  const names = new Map(rows().map((row) => [row, row.querySelector('.step-row-name')!.textContent]))

  // An odd distance: where a file was read, one is written now.
  drag('pointermove', 0.3 + 1_001 / COUNT)
  await expect.poll(shownStep).toBe('2,802')

  const used = rows().filter((row) => names.has(row))
  expect(used.length).toBeGreaterThan(rows().length - 3)
  const renamed = used.filter((row) => row.querySelector('.step-row-name')!.textContent !== names.get(row))
  expect(renamed.length).toBeLessThan(4)
  for (const [place, position] of positions().entries()) {
    const row = rows()[place]!
    expect(row.querySelector('.step-row-name')!.textContent).toBe(
      position % 2 === 0 ? 'read_file' : 'write_file',
    )
    expect(row.querySelector('.step-row-time')!.textContent).toBe(timeOf(position))
  }
  expect(document.querySelector('.step-row.is-selected')!.id).toBe('row-2801')
  expect(positions()).not.toEqual(inOrder())

  drag('pointerup', 0.3 + 1_001 / COUNT)
  await expect.poll(() => positions().length).toBeGreaterThan(30)
  expect(positions()).toEqual(inOrder())
})

test('the timeline of a very long session is painted after the list is shown', async () => {
  const steps = Array.from({ length: 12_000 }, (_, index) => ({ id: `${index}`, offsetMs: index * 20 }))
  await openReplay(makeSession(steps, { durationMs: 240_000 }))
  await expect.element(page.getByRole('tree')).toBeVisible()
  const isPainted = () => {
    const canvas = document.querySelector<HTMLCanvasElement>('.timeline-canvas')!
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
    return data.some((value) => value > 0)
  }
  await expect.poll(isPainted).toBe(true)
})
