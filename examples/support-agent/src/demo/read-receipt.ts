import * as playhead from 'playhead'
import { openai } from '../ask-model.ts'
import { drawReceipt } from './draw-receipt.ts'

const fileExpense = playhead.recordAction(
  { name: 'file_expense', effect: 'write' },
  async (expense: { total: string; merchant: string }) => ({ expenseId: 'ex_311', ...expense }),
)

/** Sends an image to a model that reasons before it answers. */
export function readReceipt(question: string): Promise<string> {
  return playhead.withSession(
    { name: 'receipts', input: question, tags: ['receipts', 'vision'] },
    async () => {
      const image = `data:image/png;base64,${drawReceipt().toString('base64')}`
      const answer = await openai().responses.create({
        model: 'o4-mini',
        reasoning: { effort: 'medium', summary: 'auto' },
        instructions: 'You read receipts. Answer with the total and the merchant.',
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: question },
              { type: 'input_image', image_url: image, detail: 'auto' },
            ],
          },
        ],
      })
      await fileExpense({ total: '46.20', merchant: 'Harbour Stationers' })
      return answer.output_text
    },
  )
}
