import type { Message, Part } from '../../session/message.ts'
import type { ToolAnswer, ToolRequest } from '../../session/step-draft.ts'
import type { StepError } from '../../session/step.ts'
import { unwrapFunctionResponse } from '../../providers/tool-use.ts'
import { oneLine, previewJson, previewOfArguments } from './preview.ts'
import { softErrorOf } from './soft-error.ts'

/** Bounds for outlines: many calls in one reply, and results further back than the last turns. */
const MAX_REQUESTS = 64
const MAX_ANSWERS = 64
const MAX_EARLIER_ANSWERS = 8

/** The tools that the model asked for in its reply. */
export function toolRequestsIn(messages: readonly Message[]): ToolRequest[] {
  const requests: ToolRequest[] = []
  for (const { isOutput, parts } of messages) {
    if (isOutput !== true) continue
    for (const part of parts) {
      if (part.type !== 'tool-call' || part.name === '' || requests.length >= MAX_REQUESTS) continue
      const inputPreview = previewOfArguments(part.arguments)
      const request: ToolRequest = { name: part.name }
      if (part.id !== undefined) request.id = part.id
      if (inputPreview !== undefined) request.inputPreview = inputPreview
      requests.push(request)
    }
  }
  return requests
}

/**
 * The results since the model's previous reply, oldest first. In the Responses API every call of a reply is a message
 * of its own, so such messages don't end the search at once.
 */
export function toolAnswersIn(messages: readonly Message[]): ToolAnswer[] {
  const answers: ToolAnswer[] = []
  let limit = MAX_ANSWERS
  for (let index = messages.length - 1; index >= 0 && answers.length < limit; index -= 1) {
    const { isOutput, role, parts } = messages[index]!
    if (isOutput === true) continue
    if (role === 'assistant') {
      if (parts.length !== 1 || parts[0]!.type !== 'tool-call') break
      limit = MAX_EARLIER_ANSWERS
    }
    for (let last = parts.length - 1; last >= 0; last--) {
      const part = parts[last]!
      if (part.type === 'tool-result') answers.push(toAnswer(part))
    }
  }
  return answers.toReversed()
}

function toAnswer({ id, name, result: given, isError }: Extract<Part, { type: 'tool-result' }>): ToolAnswer {
  const result = unwrapFunctionResponse(given)
  const text = typeof result === 'string' ? result : previewJson(result)
  const outputPreview = oneLine(text)
  const error: StepError | undefined =
    isError === true ? { type: 'ToolError', message: outputPreview ?? '' } : softErrorOf(result)
  const answer: ToolAnswer = {}
  if (id !== undefined) answer.id = id
  if (name !== undefined) answer.name = name
  if (outputPreview !== undefined) answer.outputPreview = outputPreview
  if (error !== undefined) answer.error = error
  return answer
}
