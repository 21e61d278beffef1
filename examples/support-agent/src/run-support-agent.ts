import * as playhead from 'playhead'
import { classify, extractCustomerId, fetchCustomer, writeBillingReply, writeGeneralReply } from './tools.ts'

/** One message of a customer, from the question to the reply: one session. */
export async function runSupportAgent(message: string): Promise<string> {
  playhead.startSession({ name: 'support', tags: ['support', 'v2.1'] })
  try {
    const intent = await classify(message)
    const reply = await answer(intent, message)
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

async function answer(intent: string, message: string): Promise<string> {
  if (intent !== 'billing') return writeGeneralReply(message)
  // Nobody looks whether the message names a customer at all: this is the mistake that the replay shows.
  const customer = await fetchCustomer(extractCustomerId(message))
  return writeBillingReply(customer, message)
}
