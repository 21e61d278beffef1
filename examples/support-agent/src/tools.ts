import { recordAction } from 'playhead'
import { askModel, streamModel } from './ask-model.ts'
import { getCustomer, getSignedInCustomerId, payBack, type Customer } from './customers.ts'
import { CLASSIFY, POLICY } from './policy.ts'

/** Classifies the message with a model call, which is recorded inside the action. */
export const classify = recordAction('classify_intent', async (message: string, instructions = CLASSIFY) => {
  const answer = await askModel([
    { role: 'system', content: instructions },
    { role: 'user', content: message },
  ])
  return answer.trim().toLowerCase()
})

export const extractCustomerId = recordAction(
  'extract_customer_id',
  (message: string) => /\bc_\d+\b/.exec(message)?.[0] ?? null,
)

export const findAccount = recordAction({ name: 'find_account', effect: 'read' }, () =>
  getSignedInCustomerId(),
)

export const fetchCustomer = recordAction(
  { name: 'fetch_customer_data', effect: 'read', parameters: ['customer_id'] },
  (customerId: string | null) => getCustomer(customerId),
)

export const issueRefund = recordAction(
  { name: 'issue_refund', effect: 'write' },
  (invoice: string, amount: number) => payBack(invoice, amount),
)

/** Tells the customer that the agent is working on it. */
export function acknowledge(message: string, model?: string): Promise<string> {
  return askModel(
    [
      {
        role: 'system',
        content: `${POLICY}\nTell the customer in one sentence that you are looking into it.`,
      },
      { role: 'user', content: message },
    ],
    model,
  )
}

export const writeReply = recordAction(
  'write_reply',
  (message: string, known: { customer?: Customer; refund?: unknown } = {}) =>
    streamModel([
      { role: 'system', content: `${POLICY}\nWhat you know: ${JSON.stringify(known)}` },
      { role: 'user', content: message },
    ]),
)
