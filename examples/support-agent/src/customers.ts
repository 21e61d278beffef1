import { setTimeout as sleep } from 'node:timers/promises'

export type Invoice = { id: string; amount: number; chargedOn: string; refundedOn?: string }
export type Customer = { id: string; name: string; plan: string; invoices: Invoice[] }

export class ValueError extends Error {
  override name = 'ValueError'
}

const customers: readonly Customer[] = [
  {
    id: 'c_42',
    name: 'Ada Lovelace',
    plan: 'Pro',
    invoices: [
      { id: 'INV-2291', amount: 129.5, chargedOn: '2026-11-03' },
      { id: 'INV-2292', amount: 129.5, chargedOn: '2026-11-04' },
    ],
  },
  {
    id: 'c_77',
    name: 'Grace Hopper',
    plan: 'Team',
    invoices: [{ id: 'INV-2310', amount: 480, chargedOn: '2026-11-01', refundedOn: '2026-11-02' }],
  },
]

/** Stands in for a database, with some latency. */
export async function getCustomer(customerId: string | null): Promise<Customer> {
  await sleep(30)
  if (customerId === null) throw new ValueError('customer_id cannot be null')
  const customer = customers.find(({ id }) => id === customerId)
  if (customer === undefined) throw new ValueError(`there is no customer ${customerId}`)
  return customer
}

/** Finds the account that a message was sent from. */
export async function getSignedInCustomerId(): Promise<string> {
  await sleep(20)
  return 'c_42'
}

export type Refund = { success: true; refundId: string } | { success: false; error: string }

/** Returns a failure instead of throwing it, as payment services do. */
export async function payBack(invoiceId: string, amount: number): Promise<Refund> {
  await sleep(80)
  const invoice = customers.flatMap(({ invoices }) => invoices).find(({ id }) => id === invoiceId)
  if (invoice === undefined) return { success: false, error: `there is no invoice ${invoiceId}` }
  if (invoice.refundedOn !== undefined)
    return { success: false, error: `${invoiceId} was paid back on ${invoice.refundedOn}` }
  if (amount > invoice.amount) return { success: false, error: `${invoiceId} was less than that` }
  return { success: true, refundId: `re_${invoiceId.slice(-4)}` }
}
