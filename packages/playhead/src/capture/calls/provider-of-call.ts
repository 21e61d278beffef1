import {
  anthropicMessages,
  geminiEmbed,
  geminiGenerate,
  ollamaChat,
  ollamaEmbed,
  type ModelApi,
} from '@playhead/model'

/** The provider of a host, by its name in the semantic conventions. */
const hosts: [RegExp, string][] = [
  [/(?:^|\.)openai\.com$/, 'openai'],
  [/\.openai\.azure\.com$|\.cognitiveservices\.azure\.(?:com|us)$|\.openai\.azure\.us$/, 'azure.ai.openai'],
  [/\.services\.ai\.azure\.com$|\.inference\.ai\.azure\.com$/, 'azure.ai.inference'],
  [/(?:^|\.)anthropic\.com$/, 'anthropic'],
  [/aiplatform\.googleapis\.com$/, 'gcp.vertex_ai'],
  [/generativelanguage\.googleapis\.com$/, 'gcp.gemini'],
  [/^bedrock(?:-runtime|-mantle)?\..*amazonaws\.com(?:\.cn)?$/, 'aws.bedrock'],
  [/(?:^|\.)groq\.com$/, 'groq'],
  [/(?:^|\.)together\.(?:ai|xyz)$/, 'together_ai'],
  [/(?:^|\.)openrouter\.ai$/, 'openrouter'],
  [/(?:^|\.)mistral\.ai$/, 'mistral_ai'],
  [/(?:^|\.)deepseek\.com$/, 'deepseek'],
  [/(?:^|\.)x\.ai$/, 'x_ai'],
  [/(?:^|\.)fireworks\.ai$/, 'fireworks_ai'],
  [/(?:^|\.)perplexity\.ai$/, 'perplexity'],
  [/(?:^|\.)cerebras\.ai$/, 'cerebras'],
  [/(?:^|\.)cohere\.(?:ai|com)$/, 'cohere'],
  [/(?:^|\.)moonshot\.(?:ai|cn)$/, 'moonshot_ai'],
  [/(?:^|\.)voyageai\.com$/, 'voyage_ai'],
  [/(?:^|\.)z\.ai$/, 'z_ai'],
  [/(?:^|\.)huggingface\.co$/, 'huggingface'],
  [/(?:^|\.)watsonx\.ai$|\.ml\.cloud\.ibm\.com$/, 'ibm.watsonx.ai'],
]

/** The provider of a model name, for gateways and other unknown hosts. */
const families: [RegExp, string][] = [
  [/^(?:openai\/)?(?:gpt-|chatgpt|o[1-9](?:-|$)|text-embedding-|davinci|babbage)/, 'openai'],
  [/claude/, 'anthropic'],
  [/gemini/, 'gcp.gemini'],
  [/^(?:mistral|mixtral|codestral|ministral|magistral|devstral)/, 'mistral_ai'],
  [/^grok/, 'x_ai'],
  [/^deepseek-(?:chat|reasoner)/, 'deepseek'],
]

const ports = new Map([
  ['11434', 'ollama'],
  ['1234', 'lm_studio'],
])

const loopback = /^(?:localhost|127\.|\[?::1\]?$|0\.0\.0\.0$|host\.docker\.internal$)|\.local(?:host)?$/

export function isKnownHost({ hostname }: URL): boolean {
  return hosts.some(([pattern]) => pattern.test(hostname))
}

/** Finds the provider of a call by its host, otherwise by its API, otherwise by the model's name. */
export function providerOfCall(url: URL, api: ModelApi | undefined, model: string | undefined): string {
  const { hostname, port } = url
  const known = hosts.find(([pattern]) => pattern.test(hostname))?.[1]
  if (known !== undefined) return known
  if (api === anthropicMessages) return 'anthropic'
  if (api === geminiGenerate || api === geminiEmbed) return 'gcp.gemini'
  if (api === ollamaChat || api === ollamaEmbed) return 'ollama'
  const isLocal = loopback.test(hostname)
  const byPort = isLocal ? ports.get(port) : undefined
  if (byPort !== undefined) return byPort
  const byName = families.find(([pattern]) => pattern.test(model?.toLowerCase() ?? ''))?.[1]
  return byName ?? (isLocal ? 'local' : 'openai_compatible')
}
