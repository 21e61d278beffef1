import { geminiEmbed, geminiGenerate } from '../apis/gemini.ts'
import { toList, toObject, toText, type JsonObject } from '../json-value.ts'
import { wrapMethod } from './wrap-method.ts'

/**
 * Records the calls of one client of Google's Gen AI SDK, for the rare one that can't be seen on the wire. A call that is
 * seen there too is counted once.
 *
 * @example
 * const client = playhead.wrapGoogleGenAI(new GoogleGenAI({ apiKey }))
 */
export function wrapGoogleGenAI<Client extends object>(client: Client): Client {
  const { models, vertexai } = toObject(client)
  const host = vertexai === true ? 'aiplatform.googleapis.com' : 'generativelanguage.googleapis.com'
  const urlOf = (given: JsonObject, verb: string) => {
    const model = (toText(given.model) ?? '').split('/').at(-1)!
    return new URL(`https://${host}/v1beta/models/${encodeURIComponent(model)}:${verb}`)
  }
  for (const verb of ['generateContent', 'generateContentStream']) {
    const path = verb === 'generateContent' ? verb : 'streamGenerateContent'
    wrapMethod(models, verb, ([given]) => ({
      api: geminiGenerate,
      body: generateBody(toObject(given)),
      url: urlOf(toObject(given), path),
    }))
  }
  wrapMethod(models, 'embedContent', ([given]) => ({
    api: geminiEmbed,
    body: embedBody(toObject(given)),
    url: urlOf(toObject(given), 'embedContent'),
  }))
  return client
}

/** The client's parameters in the words of the wire. */
function generateBody({ contents, config }: JsonObject): JsonObject {
  const { systemInstruction, tools, toolConfig, ...generationConfig } = toObject(config)
  const instruction =
    typeof systemInstruction === 'string' ? { parts: [{ text: systemInstruction }] } : systemInstruction
  return { contents: listOf(contents), systemInstruction: instruction, tools, toolConfig, generationConfig }
}

function embedBody({ contents, config }: JsonObject): JsonObject {
  return { requests: listOf(contents).map((content) => ({ content })), ...toObject(config) }
}

function listOf(contents: unknown): unknown[] {
  return Array.isArray(contents) ? toList(contents) : [contents]
}
