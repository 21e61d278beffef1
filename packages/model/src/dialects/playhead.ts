import { stepKinds, type StepKind } from '../session/step.ts'
import type { Dialect } from './reading/dialect.ts'
import { kindOfWord } from './reading/kind-words.ts'

const kinds: ReadonlyMap<string, StepKind> = new Map(stepKinds.map((kind) => [kind, kind]))

/** Our own SDK: OTel GenAI, plus what the standard has no keys for. */
export const playhead: Dialect = {
  name: 'playhead',
  signs: ['playhead.'],
  scopes: ['playhead', '@playhead'],
  numbers: { testAttempt: ['playhead.test.attempt'], attempt: ['playhead.step.attempt'] },
  texts: {
    stepKind: ['playhead.step.kind'],
    effect: ['playhead.step.effect'],
    stepSource: ['playhead.step.source'],
    sessionName: ['playhead.session.name'],
    endState: ['playhead.session.end_state'],
    endStateReason: ['playhead.session.end_state_reason'],
    branch: ['vcs.ref.head.name'],
    commit: ['vcs.ref.head.revision'],
    testFile: ['playhead.test.file'],
    testSuite: ['playhead.test.suite'],
    testName: ['playhead.test.name'],
    testVariant: ['playhead.test.variant'],
    testRunId: ['playhead.test.run_id'],
    rerunParent: ['playhead.rerun.parent'],
    rerunStep: ['playhead.rerun.step'],
    rerunLane: ['playhead.rerun.lane'],
  },
  values: {
    input: ['playhead.session.input'],
    tags: ['playhead.session.tags'],
    metadata: ['playhead.session.metadata'],
    softError: ['playhead.step.soft_error'],
    stepError: ['playhead.step.error'],
    toolArguments: ['playhead.action.arguments'],
    toolResult: ['playhead.action.result'],
    streamChunks: ['playhead.stream.chunks'],
    streamAborted: ['playhead.stream.aborted'],
    truncated: ['playhead.truncated'],
    demo: ['playhead.demo'],
    rerunEdit: ['playhead.rerun.edit'],
  },
  kind: ({ fields }) => kindOfWord(kinds, fields.stepKind),
}
