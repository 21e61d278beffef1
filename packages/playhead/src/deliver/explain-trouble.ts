import type { SendOutcome, Target } from './send-batch.ts'

/** What the developer should know and do when nothing can be delivered; undefined when it will pass. */
export function explainTrouble(outcome: SendOutcome, target: Target, isSpooled: boolean): string | undefined {
  const kept = isSpooled
    ? 'Steps are kept on disk and sent when it does.'
    : 'Steps are kept in memory, and lost when the process ends.'
  if (outcome.kind === 'unwelcome') {
    return `${target.endpoint} refused what was recorded: ${outcome.reason}. Check the key (init({ apiKey }) or PLAYHEAD_API_KEY) and the address (init({ endpoint }) or PLAYHEAD_ENDPOINT).`
  }
  if (outcome.kind !== 'later') return undefined
  if (outcome.isServerThere)
    return `${target.endpoint} can't take steps at the moment (${outcome.reason}). ${kept}`
  return `No Playhead server answers at ${target.endpoint} (${outcome.reason}). ${kept} Start one with "npx playhead serve", set PLAYHEAD_ENDPOINT, or record to files with init({ dir: ".playhead" }).`
}
