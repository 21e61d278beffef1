/**
 * What a user of npm's `agentops` 0.1.0 writes. Spans leave it one in five seconds, and none once it has ended: it stays
 * alive, and its five seconds are short, which changes nothing in what is sent.
 */
export const npmScript = `
const { setTimeout: realSetTimeout } = globalThis
globalThis.setTimeout = (callback, delayMs, ...args) =>
  realSetTimeout(callback, delayMs === 5000 ? 200 : delayMs, ...args)
const { agentops } = await import('agentops')
const { Agent, run, tool } = await import('@openai/agents')
const { z } = await import('zod')

const url = process.env.SERVER
await agentops.init({ apiEndpoint: url, otlpEndpoint: url })
const lookUp = tool({
  name: 'look_up',
  description: 'invoices of a customer',
  parameters: z.object({ customer: z.string() }),
  execute: async ({ customer }) => '2 invoices of ' + customer,
})
const agent = new Agent({ name: 'Billing', instructions: 'Be kind.', tools: [lookUp], model: 'gpt-4o-mini' })
const result = await run(agent, 'I was charged twice')
console.log(result.finalOutput)
setInterval(() => {}, 1000)
`
