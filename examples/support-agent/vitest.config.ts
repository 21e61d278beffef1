import PlayheadReporter from 'playhead/reporter'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Only because this example lives beside the sources of playhead: a project of your own needs neither.
  resolve: { conditions: ['playhead-source'] },
  ssr: { resolve: { conditions: ['playhead-source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', new PlayheadReporter()],
  },
})
