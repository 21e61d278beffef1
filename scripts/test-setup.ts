// Runs before every test file in Node.
import fc from 'fast-check'

// Properties are tested with the same values each time, so that a test fails because of a change. PLAYHEAD_SEED=random
// tests them with others, as `npm run test:random` does.
const seed = process.env.PLAYHEAD_SEED ?? '1'
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) })
