import { defineConfig } from 'playhead'
import { support } from './agent.ts'

/** How Playhead starts this agent when a recorded session is run again: `npx playhead rerun last`. */
export default defineConfig({
  agents: {
    support: { run: (input) => support(input.text) },
  },
})
