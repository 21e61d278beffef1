export type Invoice = { id: string; amount: number; chargedOn: string }
export type Customer = { id: string; name: string; plan: string; invoices: Invoice[] }

/** As libraries of other languages call it, and as people look for it. */
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
    invoices: [{ id: 'INV-2310', amount: 480, chargedOn: '2026-11-01' }],
  },
]

/** What stands for a database: it takes its time. */
export async function getCustomer(customerId: string | null): Promise<Customer> {
  await new Promise((resolve) => setTimeout(resolve, 30))
  if (customerId === null) throw new ValueError('customer_id cannot be null')
  const customer = customers.find(({ id }) => id === customerId)
  if (customer === undefined) throw new ValueError(`there is no customer ${customerId}`)
  return customer
}
