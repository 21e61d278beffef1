import { startTransition, Suspense, use, useState } from 'react'
import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { fromSkeleton, toSkeleton, type Step } from '@playhead/model'
import { makeStep, makeTimeline } from '../../../test/make-session.ts'
import type { SessionSource } from '../../api/session-source.ts'
import { StepPreviews } from '../../api/step-previews.ts'
import { Player } from '../playback/player.ts'
import { ReplayProvider, type Replay } from '../playback/replay-context.ts'
import { createTimeAxis } from '../playback/time-axis.ts'
import { StepList } from './step-list.tsx'
import type { StepListState } from './step-list-state.ts'
import { listRows } from './step-rows.ts'

const COUNT = 500
const steps = Array.from({ length: COUNT }, (_, index) =>
  makeStep({ id: `step-${index}`, name: `tool-${index}`, inputPreview: `path="${index}.ts"` }),
)
const timeline = makeTimeline(fromSkeleton(toSkeleton(steps), []))

function listOf(isShown: (position: number) => boolean): StepListState {
  const shown = Uint8Array.from(steps, (_, position) => (isShown(position) ? 1 : 0))
  return {
    ...listRows(timeline, { folded: new Set(), openRepeats: new Set() }, { shown }),
    text: '',
    setText: () => undefined,
    kinds: new Set(),
    setKinds: () => undefined,
    matches: null,
    coverage: 'names',
    toggle: () => undefined,
    revealStep: () => undefined,
  }
}

test('previews that arrive while another list is being rendered belong to the list on the screen', async () => {
  const problems: unknown[] = []
  const answer = Promise.withResolvers<Step[]>()
  const source = { readPreviews: () => answer.promise } as unknown as SessionSource
  const previews = new StepPreviews(source, 'session')
  const player = new Player(timeline, { nowMs: () => 0, requestFrame: () => () => undefined })
  const replay = {
    timeline,
    player,
    previews,
    axis: createTimeAxis(timeline.durationMs, []),
  } as unknown as Replay
  const { promise: never } = Promise.withResolvers<undefined>()
  let showAll = () => {}
  let isRendering = false

  function Lists() {
    const [isAll, setIsAll] = useState(false)
    const [list] = useState(() => ({ one: listOf((position) => position === 0), all: listOf(() => true) }))
    showAll = () => startTransition(() => setIsAll(true))
    return (
      <ReplayProvider value={replay}>
        <div style={{ height: 600, display: 'grid' }}>
          <StepList list={isAll ? list.all : list.one} />
        </div>
        {isAll && <Unfinished />}
      </ReplayProvider>
    )
  }
  function Unfinished() {
    isRendering = true
    return use(never)
  }

  await render(
    <Suspense>
      <Lists />
    </Suspense>,
    { createRootOptions: { onRecoverableError: (error) => problems.push(error) } },
  )
  await expect.element(page.getByRole('treeitem')).toBeVisible()
  showAll()
  await expect.poll(() => isRendering).toBe(true)
  answer.resolve(steps)
  await expect.poll(() => document.querySelector('[role=treeitem]')?.textContent).toContain('path="0.ts"')
  expect(problems).toEqual([])
})
