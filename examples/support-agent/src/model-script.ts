import type { ModelRequest, Reply } from '@playhead/scripted-model'

/** A script that answers customers like a model would. */
export function answerAsSupport({ messages, userText }: ModelRequest): Reply {
  const instructions = messages.find(({ role }) => role === 'system')?.text ?? ''
  if (instructions.includes('one word')) return classifyMessage(userText, instructions)
  if (instructions.includes('looking into it')) return acknowledgeMessage(userText)
  if (instructions.includes('"success":true'))
    return 'I have paid back INV-2292, Ada: 129.50 dollars, reference re_2292. The money is on your account within five working days.'
  if (instructions.includes('"success":false'))
    return 'That invoice was paid back on 2 November, Grace, so I have not issued a second refund. A colleague will look at it with you.'
  if (instructions.includes('INV-2292'))
    return 'I see two charges of 129.50 dollars on your account, Ada: INV-2291 on 3 November and INV-2292 on 4 November. The second one is a duplicate, and you have it back within five working days. Nothing else changes: your plan stays Pro.'
  if (instructions.includes('INV-2310'))
    return 'There is one charge on your account this month, Grace: INV-2310 over 480 dollars for the Team plan. It was paid back on 2 November.'
  if (/app|phone/i.test(userText))
    return 'Yes: look for Tidewater in the store of your phone and sign in with the same address. Your calendars are there at once.'
  return 'Thank you for writing to us. There are three plans: Solo for 12 dollars a month, Pro for 29 dollars a month with five calendars, and Team for 480 dollars a year for ten people. You can change between them at any time, and the rest of what you have paid is counted in. Which one would fit you?'
}

function acknowledgeMessage(text: string): Reply {
  if (/refund|money back/i.test(text)) return "I'll look into your refund right away."
  return isAboutCharges(text)
    ? "I'll look into your billing issue and get back to you in a moment."
    : 'Thanks for your question, let me see.'
}

/** With examples in its instructions the model understands indirect phrasings; without them, only plain ones. */
function classifyMessage(text: string, instructions: string): Reply {
  if (/refund|money back/i.test(text)) return 'refund'
  const isUnderstood = instructions.includes('in passing')
    ? isAboutCharges(text)
    : /billed|billing|invoice|subscription|duplicate/i.test(text)
  return isUnderstood ? 'billing' : 'general'
}

function isAboutCharges(text: string): boolean {
  return /charge|bill|invoice|subscription/i.test(text)
}
