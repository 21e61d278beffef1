import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { SessionCharts } from './session-charts.tsx'
import '../ui/browser/theme.css'

const nothing = () => undefined

test('while statistics load, no end state claims to have 0 sessions', async () => {
  await render(
    <SessionCharts stats={undefined} scoreName={undefined} range={{}} onZoom={nothing} onState={nothing} />,
  )

  const legend = page.getByRole('list', { name: 'End states' })
  await expect.element(legend).toBeVisible()
  expect(legend.element().textContent).toBe('Success Fail Indeterminate Running Lost ')
})
