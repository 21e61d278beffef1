import {
  stepName,
  visibleText,
  type Session,
  type Step,
  type TapeEntry,
  type TapeMiss,
} from '@playhead/model'
import { wrappedActions } from '../record/step/wrap-function.ts'

/** Tools that ran in the recorded sessions without a wrapper of ours, so that nothing asks the tape for them. */
export function unwrappedTools(sessions: readonly Session[]): ReadonlySet<string> {
  const actions = sessions.flatMap(({ steps }) => steps).filter(({ kind }) => kind === 'action')
  const names = new Set(actions.filter((step) => !isWrapped(step)).map(stepName))
  for (const step of actions) if (isWrapped(step)) names.delete(stepName(step))
  return names
}

function isWrapped({ isInferred, dialect }: Step): boolean {
  return isInferred !== true && dialect.includes('playhead')
}

/** Why an answer must not be served: it asks for a tool that would run for real, because nothing wraps it today. */
export function findUnwrappedTool(entry: TapeEntry, unwrapped: ReadonlySet<string>): TapeMiss | undefined {
  if (unwrapped.size === 0) return undefined
  const wrapped = wrappedActions()
  const tool = requestedTools(entry.step).find((name) => unwrapped.has(name) && !wrapped.has(name))
  return tool === undefined ? undefined : notWrapped(entry, tool)
}

function requestedTools({ messages = [] }: Step): string[] {
  const parts = messages.filter(({ isOutput }) => isOutput === true).flatMap((message) => message.parts)
  return parts.flatMap((part) => (part.type === 'tool-call' && part.isServerSide !== true ? [part.name] : []))
}

/** The recording has an answer that can't be put into the form that is asked for. */
export function notRebuildable({ step, number }: TapeEntry): TapeMiss {
  return {
    kind: 'model',
    stepId: step.id,
    step: number,
    sentence: `The answer of step ${number} ${visibleText(step.name)} was not recorded in a form that can be served.`,
  }
}

function notWrapped({ step, number }: TapeEntry, tool: string): TapeMiss {
  return {
    kind: 'model',
    stepId: step.id,
    step: number,
    sentence: `Step ${number} asks for the tool ${visibleText(tool)}, which is not wrapped: it would run for real. Wrap it with recordTool('${visibleText(tool)}', …) and run again.`,
  }
}
