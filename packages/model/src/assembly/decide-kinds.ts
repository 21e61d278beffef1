import type { ResolvedStep } from './resolved-step.ts'
import type { StepKind } from '../session/step.ts'
import {
  ACTION_BELOW,
  AI_BELOW,
  SUCCESS_BELOW,
  SUCCESSES_BELOW,
  LLM_BELOW,
  type StepNode,
} from './step-node.ts'

/** Decides the kinds that depend on the tree. Needs parents, but no usage. */
export function decideKinds(walk: readonly StepNode[]): void {
  let hasNestedActions = false
  for (let index = walk.length - 1; index >= 0; index -= 1) {
    const node = walk[index]!
    const { step, parent } = node
    if (step.treeQuestion !== undefined) decideKind(node)
    if (step.kind === 'action' && node.bits & ACTION_BELOW) hasNestedActions = true
    if (parent !== null) updateParent(node, parent)
  }
  if (hasNestedActions) for (const node of walk) demoteRepeatedAction(node)
}

function decideKind(node: StepNode): void {
  const { step } = node
  step.kind = kindInTree(node)
  // The name was kept as an agent's only in case it is one.
  if (step.treeQuestion === 'agent-if-tools-below' && step.kind !== 'agent') delete step.agent
}

function kindInTree(node: StepNode): StepKind {
  const { kind, treeQuestion } = node.step
  switch (treeQuestion) {
    case 'llm-unless-model-below':
      return node.bits & LLM_BELOW ? 'workflow' : 'llm'
    case 'agent-if-tools-below':
      return node.bits & (ACTION_BELOW | SUCCESSES_BELOW) ? 'agent' : 'workflow'
    case 'workflow-if-ai-below':
      return node.bits & AI_BELOW ? 'workflow' : 'other'
    default:
      return kind
  }
}

function updateParent(node: StepNode, parent: StepNode): void {
  const { kind, status } = node.step
  const isSecondSuccess = (parent.bits & SUCCESS_BELOW) !== 0
  parent.bits |= node.bits & FOUND_BELOW
  if (kind === 'llm') parent.bits |= LLM_BELOW
  if (kind === 'action') parent.bits |= ACTION_BELOW
  if (isAi(kind)) parent.bits |= AI_BELOW
  // A retried attempt or a call seen twice is not a second step of an agent.
  const hasSucceeded = kind === 'llm' && status !== 'error'
  if (!hasSucceeded && (node.bits & SUCCESS_BELOW) === 0) return
  parent.bits |= isSecondSuccess ? SUCCESSES_BELOW : SUCCESS_BELOW
}

const FOUND_BELOW = LLM_BELOW | ACTION_BELOW | AI_BELOW | SUCCESSES_BELOW

function isAi(kind: StepKind): boolean {
  return kind !== 'other' && kind !== 'event'
}

/**
 * When several instrumentations report one tool call (MCP client and server, framework and function), the outer one
 * is the action.
 */
function demoteRepeatedAction(node: StepNode): void {
  const { parent, step } = node
  if (parent === null) return
  if (parent.step.kind === 'action') node.enclosingAction = parent
  else if (parent.step.kind === 'other') node.enclosingAction = parent.enclosingAction
  const outer = node.enclosingAction
  if (outer === null || step.kind !== 'action' || !isSameToolCall(outer.step, step)) return
  step.kind = 'other'
}

/** Dialects that record functions: a recursive call is two actions, not one reported twice. */
const functionDialects: ReadonlySet<string> = new Set([
  'generic',
  'laminar',
  'mlflow',
  'playhead',
  'agentops',
  'langfuse',
  'langsmith',
  'openllmetry',
])

function isSameToolCall(outer: ResolvedStep, inner: ResolvedStep): boolean {
  if ((outer.toolName ?? outer.name) !== (inner.toolName ?? inner.name)) return false
  if (outer.toolCallId !== undefined && inner.toolCallId !== undefined)
    return outer.toolCallId === inner.toolCallId
  return inner.isParentRemote || outer.dialect !== inner.dialect || !functionDialects.has(inner.dialect)
}
