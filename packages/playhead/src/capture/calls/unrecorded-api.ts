const bedrockHost = /^bedrock-runtime(?:-fips)?\..*amazonaws\.com(?:\.cn)?$/
const conversePath = /\/model\/[^/]+\/(?:converse|converse-stream|invoke-with-bidirectional-stream)$/

/** Why a model call is not recorded although we know its API; undefined for everything else. */
export function explainUnrecorded({ hostname, pathname }: URL): string | undefined {
  if (!bedrockHost.test(hostname) && !conversePath.test(pathname)) return undefined
  return (
    "Calls of Amazon Bedrock's own client are not recorded, so a tape has no answer for them. " +
    'Call the model in a function that recordTool wraps, or use @anthropic-ai/bedrock-sdk.'
  )
}
