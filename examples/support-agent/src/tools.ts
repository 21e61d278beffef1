import { recordAction } from 'playhead'
import { askModel } from './ask-model.ts'
import { getCustomer, type Customer } from './customers.ts'

/** One word for what the customer wants: a call to a model, recorded as the action that it is part of. */
export const classify = recordAction('classify_intent', async (message: string) => {
  const answer = await askModel([
    { role: 'system', content: 'Answer with one word: billing, refund or general.' },
    { role: 'user', content: `Classify: ${message}` },
  ])
  return answer.trim().toLowerCase()
})

export const extractCustomerId = recordAction(
  'extract_customer_id',
  (message: string) => /\bc_\d+\b/.exec(message)?.[0] ?? null,
)

export const fetchCustomer = recordAction(
  { name: 'fetch_customer_data', effect: 'read', parameters: ['customer_id'] },
  (customerId: string | null) => getCustomer(customerId),
)

export const issueRefund = recordAction(
  { name: 'issue_refund', effect: 'write' },
  async (invoice: string, amount: number) => {
    await new Promise((resolve) => setTimeout(resolve, 80))
    return { refundId: `re_${invoice.slice(-4)}`, invoice, amount, status: 'succeeded' }
  },
)

export const writeBillingReply = recordAction(
  'generate_billing_response',
  (customer: Customer, message: string) =>
    askModel([
      {
        role: 'system',
        content: `You answer for the billing team. The customer: ${JSON.stringify(customer)}`,
      },
      { role: 'user', content: message },
    ]),
)

export const writeGeneralReply = recordAction('generate_general_response', (message: string) =>
  askModel([
    { role: 'system', content: 'You answer for the support team.' },
    { role: 'user', content: message },
  ]),
)
