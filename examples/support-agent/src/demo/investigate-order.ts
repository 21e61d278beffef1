import { setTimeout as sleep } from 'node:timers/promises'
import * as playhead from 'playhead'
import { askModel } from '../ask-model.ts'
import { runToolLoop, type Tool } from '../tool-loop.ts'

/** A coordinator with two specialists that work concurrently, each with its own tools. */
export function investigateOrder(message: string): Promise<string> {
  return playhead.withSession(
    { name: 'order investigation', input: message, tags: ['support', 'team'] },
    () => coordinate(message),
  )
}

const coordinate = playhead.agent('coordinator', async (message: string) => {
  const [payment, delivery] = await Promise.all([askPayments(message), askDelivery(message)])
  return askModel([
    { role: 'system', content: 'You coordinate. Put together what the specialists found.' },
    { role: 'user', content: `${message}\nPayments: ${payment}\nDelivery: ${delivery}` },
  ])
})

const askPayments = playhead.agent('payments specialist', (message: string) =>
  runToolLoop(
    [
      { role: 'system', content: 'You are the payments specialist.' },
      { role: 'user', content: message },
    ],
    [lookUp('list_charges', 'Charges of an order', 240), lookUp('list_fees', 'Customs and fees', 420)],
  ),
)

const askDelivery = playhead.agent('delivery specialist', (message: string) =>
  runToolLoop(
    [
      { role: 'system', content: 'You are the delivery specialist.' },
      { role: 'user', content: message },
    ],
    [
      lookUp('track_parcel', 'Where a parcel is', 610),
      lookUp('list_delays', 'Delays on the way', 330),
      lookUp('read_address', 'Where it goes to', 150),
    ],
  ),
)

const findings: Record<string, unknown> = {
  list_charges: [{ amount: 84, currency: 'USD', label: 'Wall calendar 2027' }],
  list_fees: [{ amount: 11.2, currency: 'USD', label: 'Import duty, paid for the customer' }],
  track_parcel: { status: 'in customs', place: 'Rotterdam', since: '2026-11-12' },
  list_delays: [{ place: 'Rotterdam', days: 2 }],
  read_address: { city: 'Utrecht', country: 'NL' },
}

function lookUp(name: string, description: string, delayMs: number): Tool {
  const run = playhead.recordTool({ name, description, effect: 'read' }, async (order_id: string) => {
    await sleep(delayMs)
    return { order_id, found: findings[name] }
  })
  return { name, description, parameters: ['order_id'], run }
}
