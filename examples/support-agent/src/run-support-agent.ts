import * as playhead from 'playhead'
import type { Customer } from './customers.ts'
import { CLASSIFY_VAGUELY } from './policy.ts'
import {
  acknowledge,
  classify,
  extractCustomerId,
  fetchCustomer,
  findAccount,
  issueRefund,
  writeReply,
} from './tools.ts'

export type SupportOptions = {
  /** A fault to inject: `customer_id` (skips the account lookup), `intent` (a worse prompt), `cost` (unnecessary calls). */
  fault?: string | undefined
  model?: string
} & Pick<playhead.SessionOptions, 'tags' | 'threadId' | 'userId'>

/** Answers one customer message in a session of its own. */
export async function runSupportAgent(message: string, options: SupportOptions = {}): Promise<string> {
  const { fault = process.env.SUPPORT_AGENT_FAULT, model, tags = [], ...session } = options
  playhead.startSession({ name: 'support', input: message, tags: ['support', 'v2.1', ...tags], ...session })
  // Whoever runs the session again needs them too.
  if (options.fault !== undefined) playhead.setMetadata({ fault })
  if (model !== undefined) playhead.setMetadata({ model })
  try {
    await acknowledge(message, model)
    const intent = await (fault === 'intent' ? classify(message, CLASSIFY_VAGUELY) : classify(message))
    const reply = await answer(message, intent, fault)
    playhead.record(
      new playhead.ActionEvent({
        actionType: 'session_complete',
        params: { intent },
        returns: { responseLength: reply.length },
      }),
    )
    await playhead.endSession('Success')
    return reply
  } catch (error) {
    await playhead.endSession('Fail', { reason: String(error) })
    throw error
  }
}

async function answer(message: string, intent: string, fault?: string): Promise<string> {
  if (intent !== 'billing' && intent !== 'refund') return writeReply(message)
  const named = extractCustomerId(message)
  const customer = await fetchCustomer(named ?? (fault === 'customer_id' ? null : await findAccount()))
  if (intent === 'refund') return refund(message, customer)
  const reply = await writeReply(message, { customer })
  return fault === 'cost' ? polish(message, customer, reply) : reply
}

async function refund(message: string, customer: Customer): Promise<string> {
  const asked = /INV-\d+/.exec(message)?.[0]
  const invoice = customer.invoices.find(({ id }) => id === asked) ?? customer.invoices.at(-1)
  if (invoice === undefined) return writeReply(message, { customer })
  return writeReply(message, { customer, refund: await issueRefund(invoice.id, invoice.amount) })
}

async function polish(message: string, customer: Customer, reply: string): Promise<string> {
  let best = reply
  for (let draft = 2; draft <= 9; draft += 1)
    best = await writeReply(`${message}\nYour last draft was: ${best}\nMake it better.`, { customer })
  return best
}
