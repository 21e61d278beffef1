import * as playhead from 'playhead'
import type { Recording } from './recording.ts'

export function recordWithPlayhead(endpoint: string): Recording {
  playhead.init({ endpoint, capture: false, serviceName: 'sdk-cost' })
  return {
    wrap: (name, fn) => playhead.recordAction(name, fn),
    withSession: (name, fn) => playhead.withSession({ name }, fn),
    async finish() {
      await playhead.flush()
      const { recorded, delivered, faults } = playhead.stats()
      if (delivered < recorded || faults > 0)
        throw new Error(`Recorded ${recorded}, delivered ${delivered}, faults ${faults}`)
    },
  }
}
