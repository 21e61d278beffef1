import { startScriptedModel, type Script, type ScriptedModel } from '@playhead/scripted-model'

/** Starts a scripted model on the loopback, and has OpenAI's clients of this process talk to it. */
export async function useScriptedModel(script: Script): Promise<ScriptedModel> {
  const model = await startScriptedModel(script)
  process.env.OPENAI_BASE_URL = `${model.url}/v1`
  return model
}
