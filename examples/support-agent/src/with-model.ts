import { answerInDemo, embed, readReceiptImage } from './demo/model-script.ts'
import { answerAsSupport } from './model-script.ts'
import { useScriptedModel } from './use-scripted-model.ts'

/** Runs an agent with a scripted local model, unless there is a real one. Runs from the tape need none and get none. */
export async function withModel<Result>(run: () => Promise<Result>): Promise<Result> {
  if (process.env.OPENAI_API_KEY || process.env.OPENAI_BASE_URL) return run()
  const model = await useScriptedModel([embed, readReceiptImage, answerInDemo, answerAsSupport])
  try {
    return await run()
  } finally {
    await model.stop()
  }
}
