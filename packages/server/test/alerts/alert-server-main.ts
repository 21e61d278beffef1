import { startTestServer } from '../test-server.ts'

/** A server in a process of its own that can be killed, and whose watch is told the time: `{ nowMs }` over IPC. */
const server = await startTestServer({
  PLAYHEAD_ALERT_ALLOW: '127.0.0.1',
  PLAYHEAD_DATA: process.env.PLAYHEAD_DATA!,
})
const { monitorLoop, alertWorker, drain, findings } = server.services
await monitorLoop.stop()
await alertWorker.stop()

process.on('message', (message: { nowMs: number } | { diagnose: string }) => void act(message))
process.on('disconnect', () => process.exit())
process.send!({ url: server.url })

async function act(message: { nowMs: number } | { diagnose: string }): Promise<void> {
  if ('diagnose' in message) {
    await drain()
    await findings.computeAll('default', [message.diagnose])
  } else {
    await monitorLoop.evaluate(message.nowMs)
    await alertWorker.tick(message.nowMs)
  }
  process.send!({ done: true })
}
