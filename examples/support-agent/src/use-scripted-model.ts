import { startScriptedModel, type Script, type ScriptedModel } from '@playhead/scripted-model'

/** Starts a scripted local model and points this process's OpenAI clients at it. */
export async function useScriptedModel(script: Script): Promise<ScriptedModel> {
  const model = await startScriptedModel(script)
  process.env.OPENAI_BASE_URL = `${model.url}/v1`
  return model
}
