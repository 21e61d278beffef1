import type { StepSource } from '@playhead/model'

/** What answered a step of a re-run: a word for lists, and a fact. */
export const sourceWords: Record<StepSource, { word: string; fact: string }> = {
  tape: { word: 'tape', fact: 'answered from the tape' },
  stub: { word: 'stubbed', fact: 'stubbed, not executed' },
  live: { word: 'live', fact: 'executed live' },
}
