import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import type { AxeResults, RunOptions } from 'axe-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Describing every element that is as it should be takes as long as to find those that are not. No page plays a sound. */
const options: RunOptions = { resultTypes: ['violations'], preload: false }

/** The accessibility violations that axe finds in the page or a part of it, once it is drawn in its size and theme. */
export async function findViolations(page: Page, part?: string): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  let found = await findNow(page, part)
  // What is still being drawn is gone at the next look.
  for (let look = 0; look < 3 && found.length > 0; look += 1) found = await findNow(page, part)
  return found
}

async function findNow(page: Page, part?: string): Promise<string[]> {
  await page.evaluate(endTransitions)
  const context = part === undefined ? 'document' : JSON.stringify(part)
  const { violations } = (await page.evaluate(
    `axe.run(${context}, ${JSON.stringify(options)})`,
  )) as AxeResults
  return violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  )
}

/** Halfway from one colour to another, contrast is what it never stays. A new theme or size is drawn a frame later. */
const endTransitions = `(async () => {
  for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame)
  for (const animation of document.getAnimations())
    if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish()
  await new Promise(requestAnimationFrame)
})()`
