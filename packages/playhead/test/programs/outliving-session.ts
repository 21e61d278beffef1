import { setTimeout as sleep } from 'node:timers/promises'
import * as playhead from 'playhead'

playhead.init({ capture: false })
const work = playhead.recordAction('work', async (index: number) => {
  await sleep(150)
  process.stdout.write(`step ${index}\n`)
})
await playhead.withSession({ name: 'outliving' }, async () => {
  for (let index = 1; index <= 10; index += 1) await work(index)
})
