import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import * as playhead from 'playhead'

/** A service whose work for a session of another process is part of that session. */
playhead.init({ capture: false, serviceName: 'billing' })

/** Returns the session that it is part of. */
const findInvoices = playhead.recordTool('find_invoices', async (_customerId: string) => {
  await sleep(5)
  return playhead.getSession().id
})

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const answer = async () => {
    if (url.pathname === '/agent') playhead.startSession({ name: 'billing agent' })
    const session = await findInvoices(url.searchParams.get('id') ?? '')
    if (url.pathname === '/agent') await playhead.endSession('Success')
    response.end(JSON.stringify({ headers: request.headers, session }))
  }
  void answer()
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
