import type { Page } from '@playwright/test'
import { expect } from 'vitest'
import { DESKTOP, PHONE, takeScreenshot } from './browser.ts'
import { findViolations } from './find-violations.ts'

/** Looks at the page in both sizes and both themes; expects no overflow and no accessibility violations. */
export async function expectGoodLooks(page: Page, name: string): Promise<void> {
  for (const [size, viewport] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const)
    for (const theme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await takeScreenshot(page, `${name}-${size}-${theme}`)
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
      // Each size and each theme once: axe is slow.
      if ((size === 'desktop') === (theme === 'light')) expect(await findViolations(page)).toEqual([])
    }
}
