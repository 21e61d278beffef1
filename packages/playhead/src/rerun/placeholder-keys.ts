/** Clients of these providers refuse to be created or used without a key. */
const names = [
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'AZURE_OPENAI_API_KEY',
  'AZURE_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'XAI_API_KEY',
  'DEEPSEEK_API_KEY',
  'COHERE_API_KEY',
  'TOGETHER_API_KEY',
  'TOGETHER_AI_API_KEY',
  'FIREWORKS_API_KEY',
  'OPENROUTER_API_KEY',
  'AI_GATEWAY_API_KEY',
]

/** Keys for where no model is called: those that are not set. */
export function placeholderKeys(): Record<string, string> {
  // Google's client takes either, and warns about both.
  const others: Record<string, string> = { GOOGLE_API_KEY: 'GEMINI_API_KEY' }
  const missing = names.filter((name) => !process.env[name] && !process.env[others[name] ?? name])
  return Object.fromEntries(missing.map((name) => [name, 'not-needed-from-the-tape']))
}
