import { setTimeout as sleep } from 'node:timers/promises'
import * as playhead from 'playhead'

/** node support-session.ts <how it ends>: a session that is in the middle of a slow step when the process ends. */
const [end = 'normally'] = process.argv.slice(2)

if (end.startsWith('own handler')) {
  process.on('SIGTERM', () => {
    process.stdout.write('the host handles it\n')
    setTimeout(() => process.exit(42), 50)
  })
}
playhead.init({ capture: false })

const classify = playhead.recordAction('classify_intent', (message: string) =>
  message === '' ? 'none' : 'billing',
)
const slowTool = playhead.recordAction('slow_tool', async (customerId: string) => {
  process.stdout.write('in the slow tool\n')
  await sleep(['normally', 'forgotten', 'next start'].includes(end) ? 300 : 60_000)
  return customerId
})

playhead.startSession({ name: 'support', tags: [end] })
classify('I was charged twice')
if (end === 'throw') setTimeout(throwIt, 300)
if (end === 'exit') setTimeout(() => process.exit(3), 300)
await slowTool('c_42')
if (end === 'normally' || end === 'next start') await playhead.endSession('Success')
if (end === 'forgotten') process.exitCode = 5

function throwIt(): never {
  throw new RangeError('nobody catches this')
}
