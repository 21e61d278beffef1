import {
  argumentsOf,
  findProblems,
  inputMessagesOf,
  modelReply,
  recordedResult,
  wordsOf,
  type ForkEdit,
  type Message,
  type Step,
} from '@playhead/model'

type FieldName = keyof ForkEdit

/** A part of a step that can be edited. A text field is edited as it is, any other as JSON. */
export type EditField = { name: FieldName; label: string; recorded: string; isText: boolean; hint?: string }

/** Fields that are edited together: a fork changes what a step is given, or what it returns. */
export type EditMode = { id: 'given' | 'returned'; label: string; fields: EditField[] }

/** What can be edited at a step with its payload. The first mode is the likelier one. */
export function editModesOf(step: Step): EditMode[] {
  return step.kind === 'llm' ? modelCallModes(step) : actionModes(step)
}

function actionModes(step: Step): EditMode[] {
  const hasFailed = step.status === 'error'
  const returned: EditMode = {
    id: 'returned',
    label: 'Result',
    fields: [
      {
        name: 'result',
        label: 'Result',
        recorded: hasFailed ? '' : jsonText(recordedResult(step) ?? step.tool?.result),
        isText: false,
        hint: hasFailed
          ? 'The action failed. Enter what it should have returned.'
          : 'The action does not run: the agent gets this value.',
      },
    ],
  }
  const given: EditMode = {
    id: 'given',
    label: 'Arguments',
    fields: [
      {
        name: 'args',
        label: 'Arguments',
        recorded: jsonText(argumentsOf(step)),
        isText: false,
        hint: 'The action runs with these, unless it writes: then it is stubbed.',
      },
    ],
  }
  return findProblems(step).length > 0 ? [given, returned] : [returned, given]
}

function modelCallModes(step: Step): EditMode[] {
  const sent = inputMessagesOf(step)
  const { text, calls } = modelReply(step)
  const given: EditField[] = [
    { name: 'prompt', label: 'Message', recorded: textOf(findLast(sent, 'user')), isText: true },
    { name: 'system', label: 'System prompt', recorded: textOf(findLast(sent, 'system')), isText: true },
    { name: 'model', label: 'Model', recorded: step.requestedModel ?? step.model ?? '', isText: true },
  ]
  const answer: EditField =
    calls.length === 0
      ? { name: 'result', label: 'Answer', recorded: text, isText: true }
      : {
          name: 'result',
          label: 'Answer',
          recorded: jsonText({ text, toolCalls: calls }),
          isText: false,
        }
  return [
    { id: 'given', label: 'Question', fields: given },
    {
      id: 'returned',
      label: 'Answer',
      fields: [{ ...answer, hint: 'The model is not asked here: the agent gets this answer.' }],
    },
  ]
}

function findLast(messages: readonly Message[], role: string): Message | undefined {
  return messages.findLast((message) => message.role === role)
}

function textOf(message: Message | undefined): string {
  return message?.parts.map(wordsOf).filter(Boolean).join('\n') ?? ''
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? ''
}

export type EditReading = {
  /** Undefined if nothing is changed. */
  edit: ForkEdit | undefined
  problems: Partial<Record<FieldName, string>>
}

/** Reads the changed fields of a mode. */
export function readEdit(mode: EditMode, values: Partial<Record<FieldName, string>>): EditReading {
  const edit: ForkEdit = {}
  const problems: EditReading['problems'] = {}
  for (const { name, recorded, isText } of mode.fields) {
    const text = values[name] ?? recorded
    if (text === recorded) continue
    const problem = isText ? undefined : findJsonProblem(text)
    if (problem !== undefined) problems[name] = problem
    else Object.assign(edit, { [name]: isText ? text : (JSON.parse(text) as unknown) })
  }
  return { edit: Object.keys(edit).length === 0 ? undefined : edit, problems }
}

/** Why a text is no JSON, in a sentence. */
function findJsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    if (text.trim() === '') return 'Enter a JSON value, for example "c_42" or {"id": 42}.'
    if (isBareText(text)) return `Text needs quotes: ${JSON.stringify(text.trim())}.`
    return `This is not JSON: ${describePlace(text, String(error))}.`
  }
}

/** Whether quotes would make it JSON. */
export function isBareText(text: string): boolean {
  return /^\s*[^\s"{[\d-]/.test(text) && !/[{}[\]"\n]/.test(text)
}

/** Engines name the line and column, or only the character if the text is short. */
function describePlace(text: string, error: string): string {
  const [, line, column] = /line (\d+),? column (\d+)/.exec(error) ?? []
  const place = line === undefined ? '' : ` at line ${line}, column ${column}`
  const found =
    line === undefined
      ? /token '(.)'/.exec(error)?.[1]
      : text.split('\n')[Number(line) - 1]?.[Number(column) - 1]
  return found === undefined
    ? `it ends too early${place}`
    : `${JSON.stringify(found)} is not expected${place}`
}
