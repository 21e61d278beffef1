import {
  argumentsOf,
  findProblems,
  visibleText,
  type ArgumentOrigin,
  type ArgumentProblem,
  type Step,
} from '@playhead/model'
import { isBranch, joinPath } from '../../ui/data/json-path.ts'
import { JsonTree } from '../../ui/data/json-tree.tsx'
import { LongText } from '../../ui/data/long-text.tsx'
import { ValueView } from '../../ui/data/value-view.tsx'
import { useArgumentOrigins } from '../../session-facts/argument-origins.ts'
import { useReplay } from '../playback/replay-context.ts'
import { NotRecorded } from '../steps/not-recorded.tsx'
import { OriginNotes } from './provenance.tsx'

const MAX_ROWS = 60

/** The arguments of an action, with those marked that may explain its failure. */
export function ActionArguments({ step }: { step: Step }) {
  const given = argumentsOf(step)
  const problems = findProblems(step)
  const origins = useArgumentOrigins(useReplay().timeline, step) ?? []
  if (given === undefined && problems.length === 0) return <NotRecorded />
  const isList = isBranch(given) && Object.keys(given).length <= MAX_ROWS
  if (!isList)
    return (
      <div className="arguments">
        <ValueView value={given} note={(path) => <ProblemAt path={path} problems={problems} />} />
        <ProblemAt path="" problems={problems} />
        <MissingArguments problems={problems} />
      </div>
    )
  const names = Object.entries(given as Record<string, unknown>)
  if (names.length === 0 && problems.length === 0) return <p className="dim">No arguments</p>
  return (
    <dl className="arguments">
      {names.map(([name, value]) => (
        <Argument
          key={name}
          name={name}
          value={value}
          path={joinPath('', Array.isArray(given) ? Number(name) : name)}
          problems={problems}
          origins={origins}
        />
      ))}
      <MissingArguments problems={problems} />
    </dl>
  )
}

type ArgumentProps = {
  name: string
  value: unknown
  path: string
  problems: readonly ArgumentProblem[]
  origins: readonly ArgumentOrigin[]
}

function Argument({ name, value, path, problems, origins }: ArgumentProps) {
  const problem = problems.find((candidate) => candidate.path === path)
  return (
    <div className={`argument${problem === undefined ? '' : ' is-problem'}`} data-path={`arguments.${path}`}>
      <dt>{visibleText(name)}</dt>
      <dd>
        <ArgumentValue value={value} path={path} problems={problems} />
        {problem !== undefined && <ProblemMark why={problem.why} />}
        <OriginNotes path={path} origins={origins} />
      </dd>
    </div>
  )
}

function ArgumentValue({ value, path, problems }: Omit<ArgumentProps, 'name' | 'origins'>) {
  if (typeof value === 'string' && value !== '') return <LongText text={value} limit={600} className="mono" />
  if (!isBranch(value) || Object.keys(value).length === 0) return <JsonTree value={value} />
  const note = (inner: string) => <ProblemAt path={joinInner(path, inner)} problems={problems} />
  return <JsonTree value={value} note={note} />
}

function joinInner(path: string, inner: string): string {
  return inner.startsWith('[') ? `${path}${inner}` : `${path}.${inner}`
}

function ProblemAt({ path, problems }: { path: string; problems: readonly ArgumentProblem[] }) {
  const problem = problems.find((candidate) => candidate.path === path && candidate.value !== undefined)
  return problem === undefined ? null : <ProblemMark why={problem.why} />
}

/** Arguments that the error asks for and that were not passed. */
function MissingArguments({ problems }: { problems: readonly ArgumentProblem[] }) {
  return problems
    .filter(({ value }) => value === undefined)
    .map(({ path, why }) => (
      <div key={path} className="argument is-problem" data-path={`arguments.${path}`}>
        <dt>{visibleText(path)}</dt>
        <dd>
          <b>missing</b>
          <ProblemMark why={why} />
        </dd>
      </div>
    ))
}

function ProblemMark({ why }: { why: string }) {
  return (
    <span className="problem">
      <b>← PROBLEM</b> {why}
    </span>
  )
}
