import * as playhead from 'playhead'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

export const classify = playhead.recordAction('classify_intent', async (message: string) => {
  await nextTurn()
  playhead.record(new playhead.LLMEvent({ model: 'gpt-4o', usage: { input: 1000, output: 100 } }))
  return /charge/.test(message) ? 'billing' : 'general'
})
export const fetchCustomer = playhead.recordAction(
  { name: 'fetch_customer_data', effect: 'read' },
  async (customerId: string | null) => {
    await nextTurn()
    if (customerId === null) throw new TypeError('customerId cannot be null')
    return { id: customerId, plan: 'pro' }
  },
)
export const refund = playhead.recordAction(
  { name: 'issue_refund', effect: 'write' },
  async (order: { invoice: string; amount: number; currency?: string; key?: string }) => {
    await nextTurn()
    return { refunded: order.amount }
  },
)
export const search = playhead.recordAction('search_docs', async (query: string) => query.length)
export const researcher = playhead.agent('researcher', async (question: string) => {
  await search(question)
  return search(`${question} again`)
})

/** A session with every kind of call that the matchers check. */
export async function runBilling(customerId: string | null = 'c_42'): Promise<void> {
  await classify('I was charged twice')
  await fetchCustomer(customerId)
  await researcher('refund policy')
  await refund({ invoice: 'INV-7', amount: 12.5, currency: 'usd', key: 'k-1' })
  playhead.record(new playhead.ActionEvent({ actionType: 'session_complete', params: { intent: 'billing' } }))
}
