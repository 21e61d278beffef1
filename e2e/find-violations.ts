import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'

/** The accessibility violations that axe finds in the page's current state. */
export async function findViolations(page: Page): Promise<string[]> {
  // The pages have no frames; the default mode would open a second window for them.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  return violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  )
}
