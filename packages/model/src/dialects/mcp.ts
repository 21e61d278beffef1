import type { Dialect } from './reading/dialect.ts'
import { ofKind } from './reading/kind-words.ts'

/** Model Context Protocol, client and server side. `mcp.session.id` is the connection, not a session. */
export const mcp: Dialect = {
  name: 'mcp',
  signs: ['mcp.'],
  texts: { mcpMethod: ['mcp.method.name'], toolName: ['mcp.tool.name'] },
  values: { toolArguments: ['mcp.request.argument'] },
  kind: ({ fields }) =>
    fields.mcpMethod === undefined
      ? undefined
      : ofKind(fields.mcpMethod === 'tools/call' ? 'action' : 'other'),
}
