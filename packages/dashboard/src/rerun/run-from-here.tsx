import { useMemo, useState } from 'react'
import { stepTitle, visibleText, type ForkEdit, type Session, type Step } from '@playhead/model'
import { DEFAULT_PROJECT, useProjectId } from '../api/projects.ts'
import { useSessionSource } from '../api/session-source.ts'
import { useStep } from '../api/use-step.ts'
import { Button } from '../ui/controls/button.tsx'
import { Dialog } from '../ui/controls/dialog.tsx'
import { Segments } from '../ui/controls/segments.tsx'
import { CodeBlock } from '../ui/data/code-block.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { SkeletonLines } from '../ui/data/skeleton.tsx'
import { EditFields, OriginHint } from './edit-fields.tsx'
import { forkCommand, type Server } from './fork-command.ts'
import { editModesOf, readEdit } from './fork-edit.ts'
import { describePlan, findForkStep } from './fork-plan.ts'
import { JobStatus } from './job-status.tsx'
import { RunnerHelp, useRunner } from './runner-help.tsx'
import { useForkJob } from './use-fork-job.ts'
import './run-from-here.css'

/** How often an edit is tried to show that it helps. */
const SEVERAL = 5

type RunFromHereProps = {
  /** With its steps in start order. */
  session: Session
  stepId: string
  onClose: () => void
}

/** Edits a step and runs the agent from there, in the paired terminal or with the command that it shows. */
export function RunFromHere({ session, stepId, onClose }: RunFromHereProps) {
  const [chosen, setChosen] = useState(stepId)
  const position = findForkStep(session.steps, chosen)
  const step = position === undefined ? undefined : session.steps[position]
  return (
    <Dialog
      title={
        step === undefined
          ? 'Run from here'
          : `Run from step ${position! + 1}: ${visibleText(stepTitle(step))}`
      }
      isWide
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      {step === undefined ? (
        <p>A run can begin at a model call or at an action. There is none from here on.</p>
      ) : (
        <LoadedForm key={step.id} session={session} outline={step} position={position!} onMove={setChosen} />
      )}
    </Dialog>
  )
}

type FormProps = { session: Session; position: number; onMove: (stepId: string) => void }

function LoadedForm({ outline, ...rest }: FormProps & { outline: Step }) {
  const { data: step, error } = useStep(rest.session.session.id, outline)
  if (error !== null) return <ErrorNotice error={error} />
  if (step === undefined) return <SkeletonLines count={6} />
  if (step.attributes?.['playhead.step.reported'] === true)
    return (
      <p>The agent reported this action afterwards, so a run can’t begin at it. Choose an earlier step.</p>
    )
  return <ForkForm step={step} {...rest} />
}

function ForkForm({ session, step, position, onMove }: FormProps & { step: Step }) {
  const modes = useMemo(() => editModesOf(step), [step])
  const [modeId, setModeId] = useState(modes[0]!.id)
  const [values, setValues] = useState<Partial<Record<keyof ForkEdit, string>>>({})
  const mode = modes.find(({ id }) => id === modeId)!
  const { edit, problems } = readEdit(mode, values)
  return (
    <div className="fork">
      <OriginHint session={session} step={step} onMove={onMove} />
      <Segments
        label="What to change"
        segments={modes.map(({ id, label }) => ({ value: id, label }))}
        value={modeId}
        onChange={setModeId}
      />
      <EditFields
        mode={mode}
        values={values}
        problems={problems}
        onChange={(name, value) => setValues((before) => ({ ...before, [name]: value }))}
      />
      <ul className="fork-plan">
        {describePlan(session.steps, position).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <ForkActions
        session={session}
        step={step}
        position={position}
        edit={edit}
        hasProblem={Object.keys(problems).length > 0}
      />
    </div>
  )
}

type ActionProps = {
  session: Session
  step: Step
  position: number
  edit: ForkEdit | undefined
  hasProblem: boolean
}

/** Runs the fork if a terminal is there; otherwise shows the command. */
function ForkActions({ session: { session }, step, position, edit, hasProblem }: ActionProps) {
  const { dev } = useSessionSource()
  const runner = useRunner(dev)
  const { progress, start, cancel, clear } = useForkJob(dev, runner.data !== undefined)
  const [times, setTimes] = useState(1)
  const server = useServer()
  const command = hasProblem
    ? undefined
    : forkCommand({ sessionId: session.id, stepNumber: position + 1, edit, times }, server)
  const run = (count: number) =>
    void start({ sessionId: session.id, stepId: step.id, ...(edit !== undefined && { edit }), times: count })
  if (progress !== undefined) return <JobStatus job={progress} onCancel={cancel} onBack={clear} />
  if (runner.data === undefined)
    return (
      <RunnerHelp session={session} runner={runner} server={server}>
        <div className="fork-command">
          <Segments
            label="Runs"
            segments={[
              { value: '1', label: 'Once' },
              { value: String(SEVERAL), label: `${SEVERAL} times` },
            ]}
            value={String(times)}
            onChange={(value) => setTimes(Number(value))}
          />
          {command !== undefined && <CodeBlock text={command} label="command" />}
        </div>
      </RunnerHelp>
    )
  const { host, agents } = runner.data
  return (
    <footer className="fork-foot">
      <p className="dim">
        Runs on {visibleText(host)}, which has the {agents.length === 1 ? 'agent' : 'agents'}{' '}
        {agents.map(visibleText).join(', ')}.
      </p>
      <Button
        disabled={hasProblem || edit === undefined}
        title={
          edit === undefined ? 'Change something first' : `${SEVERAL} with the change and ${SEVERAL} without`
        }
        onClick={() => run(SEVERAL)}
      >
        Run {SEVERAL} times
      </Button>
      <Button look="accent" disabled={hasProblem} onClick={() => run(1)}>
        {edit === undefined && !hasProblem ? 'Run unchanged' : 'Run once'}
      </Button>
    </footer>
  )
}

function useServer(): Server {
  const project = useProjectId()
  return { origin: location.origin, project, isDefaultProject: project === DEFAULT_PROJECT }
}
