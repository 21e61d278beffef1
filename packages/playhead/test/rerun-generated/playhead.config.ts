import * as playhead from '../../src/index.ts'
import { runPlan, type PlanInput } from './agent.ts'
import { makePlan } from './plan.ts'

playhead.init({})

export default playhead.defineConfig({
  agents: {
    generated: {
      matches: ({ name }) => name.startsWith('case-'),
      run: ({ value }) => {
        const input = value as PlanInput
        return runPlan(makePlan(input.seed, input.index), input)
      },
    },
  },
})
