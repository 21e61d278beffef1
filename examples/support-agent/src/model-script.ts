import type { ModelRequest, Reply } from '@playhead/scripted-model'

/** What the model would say to a customer, without a model. */
export function answerAsSupport({ messages, userText }: ModelRequest): Reply {
  const systemText = messages.find(({ role }) => role === 'system')?.text ?? ''
  if (systemText.includes('one word')) return classifyMessage(userText)
  if (systemText.includes('billing'))
    return {
      text: 'We found two charges of 129.50 on your account, INV-2291 and INV-2292. The second one is a mistake, and you will have it back within five days.',
      usage: { input: 412, output: 48 },
    }
  return {
    text: 'Thank you for your message. Could you tell us a little more about what you need?',
    usage: { input: 58, output: 21 },
  }
}

function classifyMessage(text: string): Reply {
  const intent = /refund/i.test(text)
    ? 'refund'
    : /charge|bill|invoice|subscription/i.test(text)
      ? 'billing'
      : 'general'
  return { text: intent, usage: { input: 46, output: 1 } }
}
