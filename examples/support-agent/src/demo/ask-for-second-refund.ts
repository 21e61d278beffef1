import * as playhead from 'playhead'
import { fetchCustomer, issueRefund, writeReply } from '../tools.ts'

/** The refund fails without throwing, and the session ends without a verdict. */
export async function askForSecondRefund(message: string): Promise<string> {
  playhead.startSession({ name: 'support', tags: ['support', 'v2.1', 'refund'], userId: 'c_77' })
  const customer = await fetchCustomer('c_77')
  const refund = await issueRefund('INV-2310', 480)
  const reply = await writeReply(message, { customer, refund })
  await playhead.endSession('Indeterminate', { reason: 'handed over to a colleague' })
  return reply
}
