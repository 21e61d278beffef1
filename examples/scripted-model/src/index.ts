export { callTool, inTurns, type Reply, type ReplyError, type ReplyUsage, type ToolCall } from './reply.ts'
export type { ApiName, ModelRequest, RequestMessage, ToolResult } from './model-request.ts'
export {
  startScriptedModel,
  type RecordedRequest,
  type Rule,
  type Script,
  type ScriptedModel,
} from './start-scripted-model.ts'
