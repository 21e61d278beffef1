import {
  anthropicMessages,
  geminiEmbed,
  geminiGenerate,
  ollamaChat,
  ollamaEmbed,
  openAiChat,
  openAiCompletions,
  openAiEmbeddings,
  openAiResponses,
  type ModelApi,
  type Operation,
  isRecord,
  type JsonObject,
} from '@playhead/model'

/** How to recognize an API: by the end of its path and the shape of its body. */
type Shape = {
  path: RegExp
  api: ModelApi
  operation: Operation
  hasShape(body: JsonObject, path: string): boolean
  /** True if the path alone identifies the API, for requests that failed before their body was sent. */
  isCertain: boolean
}

const shapes: Shape[] = [
  {
    path: /\/completions$/,
    api: openAiChat,
    operation: 'chat',
    // Azure has the model in the path, and Mistral's agents have a fixed one.
    hasShape: ({ messages, model, agent_id: agent }, path) =>
      Array.isArray(messages) && (typeof (model ?? agent) === 'string' || path.includes('/deployments/')),
    isCertain: true,
  },
  {
    path: /\/completions$/,
    api: openAiCompletions,
    operation: 'text_completion',
    hasShape: ({ model, prompt }) =>
      typeof model === 'string' && (typeof prompt === 'string' || Array.isArray(prompt)),
    isCertain: false,
  },
  {
    path: /\/responses$/,
    api: openAiResponses,
    operation: 'chat',
    hasShape: ({ model, input, prompt }) =>
      typeof input === 'string'
        ? typeof model === 'string' || isRecord(prompt)
        : (typeof model === 'string' && Array.isArray(input)) ||
          (isRecord(prompt) && prompt.id !== undefined),
    isCertain: false,
  },
  {
    path: /\/messages$|\/invoke(?:-with-response-stream)?$|:(?:streamRawPredict|rawPredict)$/,
    api: anthropicMessages,
    operation: 'chat',
    hasShape: ({ messages, max_tokens: limit, model, anthropic_version: version }) =>
      Array.isArray(messages) &&
      typeof limit === 'number' &&
      (typeof model === 'string' || typeof version === 'string'),
    isCertain: false,
  },
  {
    path: /:(?:generateContent|streamGenerateContent)$/,
    api: geminiGenerate,
    operation: 'generate_content',
    hasShape: ({ contents }) => contents !== undefined,
    isCertain: true,
  },
  {
    path: /:(?:embedContent|batchEmbedContents)$/,
    api: geminiEmbed,
    operation: 'embeddings',
    hasShape: ({ content, requests }) => isRecord(content) || Array.isArray(requests),
    isCertain: true,
  },
  {
    path: /\/embeddings$/,
    api: openAiEmbeddings,
    operation: 'embeddings',
    hasShape: ({ input, model }) =>
      typeof model === 'string' && (typeof input === 'string' || Array.isArray(input)),
    isCertain: false,
  },
  {
    path: /\/api\/(?:chat|generate)$/,
    api: ollamaChat,
    operation: 'chat',
    hasShape: hasOllamaShape,
    isCertain: false,
  },
  {
    path: /\/api\/embed(?:dings)?$/,
    api: ollamaEmbed,
    operation: 'embeddings',
    hasShape: ({ model, input, prompt }) => typeof model === 'string' && (input ?? prompt) !== undefined,
    isCertain: false,
  },
]

/** Rules out almost all other requests by their path. */
const anyPath =
  /(?:\/(?:completions|responses|messages|embeddings|embed|invoke|invoke-with-response-stream|api\/chat|api\/generate)|:(?:generateContent|streamGenerateContent|embedContent|batchEmbedContents|streamRawPredict|rawPredict))\/?$/

/** True if a request may be a model call; its body decides. */
export function mayBeCall(method: string | undefined, path: string): boolean {
  if (method !== undefined && method.toUpperCase() !== 'POST') return false
  const query = path.indexOf('?')
  return anyPath.test(query === -1 ? path : path.slice(0, query))
}

/** The API of a request; undefined if it is not a model call. */
export function recognizeRequest(url: URL, body: JsonObject): ModelApi | undefined {
  const path = pathOf(url)
  return shapes.find((shape) => shape.path.test(path) && shape.hasShape(body, path))?.api
}

/** The API of a request that failed before its body was sent, if its address identifies it. */
export function recognizeAddress(url: URL, isKnownHost: boolean): Shape | undefined {
  const path = pathOf(url)
  return shapes.find((shape) => shape.path.test(path) && (shape.isCertain || isKnownHost))
}

function pathOf({ pathname }: URL): string {
  // Some paths of Azure deployments and gateways end with a slash.
  return pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
}

const ollamaFields = new Set([
  'model',
  'messages',
  'prompt',
  'suffix',
  'images',
  'system',
  'template',
  'context',
  'raw',
  'tools',
  'format',
  'options',
  'stream',
  'keep_alive',
  'think',
  'logprobs',
  'top_logprobs',
])

/** Many applications use `/api/chat` for their own chat, so only bodies without foreign fields count as Ollama's. */
function hasOllamaShape(body: JsonObject): boolean {
  if (typeof body.model !== 'string') return false
  if (!Array.isArray(body.messages) && typeof body.prompt !== 'string') return false
  return Object.keys(body).every((field) => ollamaFields.has(field))
}
