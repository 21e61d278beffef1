import type { Recording } from './recording.ts'

/** A support agent without any slow work, so that only the cost of recording remains. */
export type Program = { runSession(): Promise<void> }

const plan = { plan: 'pro', seats: 12, renewsOn: '2026-12-01', balance: 129.5 }

function lookUpCustomer(customerId: string, message: string) {
  return { id: customerId, name: 'Ada Lovelace', email: 'ada@example.com', plan, lastMessage: message }
}

const message =
  'I was charged twice for my subscription this month. The two charges are from the 3rd and the 4th, 129.50 each; please give one of them back.'

/** Ten steps per session, half of them async. */
export function createProgram(recording: Recording): Program {
  const { wrap, withSession } = recording
  const classify = wrap('classify_intent', (text: string) =>
    text.includes('charged') ? 'billing' : 'general',
  )
  const fetchCustomer = wrap('fetch_customer_data', async (customerId: string, text: string) => {
    await Promise.resolve()
    return lookUpCustomer(customerId, text)
  })
  const listInvoices = wrap('list_invoices', (customerId: string) => [
    { id: 'INV-2291', customerId, amount: 129.5, paid: true },
    { id: 'INV-2292', customerId, amount: 129.5, paid: true },
  ])
  const compose = wrap('compose_reply', async (customer: unknown, invoices: unknown) => {
    await Promise.resolve()
    return `Dear customer, we found ${(invoices as unknown[]).length} charges and will look into it right away.`
  })
  return {
    runSession: () =>
      withSession('support', async () => {
        for (let turn = 0; turn < 2; turn += 1) {
          classify(message)
          const customer = await fetchCustomer(`c_${turn}`, message)
          const invoices = listInvoices(customer.id)
          await compose(customer, invoices)
        }
        classify('thank you')
        await fetchCustomer('c_9', 'bye')
      }),
  }
}

export const STEPS_PER_SESSION = 11
