import {
  argumentsOf,
  findProblems,
  visibleText,
  type ArgumentOrigin,
  type ArgumentProblem,
  type Step,
  describeOrigin,
  createArgumentTracer,
  type ArgumentTracer,
} from '@playhead/model'
import { isBranch, joinPath } from '../../ui/data/json-path.ts'
import { JsonTree } from '../../ui/data/json-tree.tsx'
import { LongText } from '../../ui/data/long-text.tsx'
import { ValueView } from '../conversation/value-view.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { useMemo } from 'react'
import { useSessionPayloads } from '../../api/use-session.ts'
import './action-arguments.css'

const MOST_ROWS = 60

/** What an action was called with, one argument a row, with those marked that may be why it failed. */
export function ActionArguments({ step }: { step: Step }) {
  const given = argumentsOf(step)
  const problems = findProblems(step)
  const origins = useArgumentOrigins(step)
  if (given === undefined && problems.length === 0) return <p className="dim">none was recorded</p>
  const isList = isBranch(given) && Object.keys(given).length <= MOST_ROWS
  if (!isList)
    return (
      <div className="arguments">
        <ValueView value={given} note={(path) => <ProblemAt path={path} problems={problems} />} />
        <ProblemAt path="" problems={problems} />
        <MissingArguments problems={problems} />
      </div>
    )
  const names = Object.entries(given as Record<string, unknown>)
  if (names.length === 0 && problems.length === 0) return <p className="dim">called without arguments</p>
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
    <div className={`argument${problem === undefined ? '' : ' is-problem'}`}>
      <dt>{visibleText(name)}</dt>
      <dd>
        <ArgumentValue value={value} path={path} problems={problems} />
        {problem !== undefined && <ProblemMark why={problem.why} />}
        <ArgumentOriginNotes path={path} origins={origins} />
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

/** Arguments that the error asks for and that nobody passed. */
function MissingArguments({ problems }: { problems: readonly ArgumentProblem[] }) {
  return problems
    .filter(({ value }) => value === undefined)
    .map(({ path, why }) => (
      <div key={path} className="argument is-problem">
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

const MOST_LINES = 4
const MOST_PARTS = 3

/** Where an argument, or parts of it, came from; leads to the step. */
function ArgumentOriginNotes({ path, origins }: { path: string; origins: readonly ArgumentOrigin[] }) {
  const own = origins.filter(
    (origin) =>
      origin.path === path || origin.path.startsWith(`${path}.`) || origin.path.startsWith(`${path}[`),
  )
  const notes = [...Map.groupBy(own, describeOrigin)].filter(([says]) => says !== undefined)
  return notes
    .slice(0, MOST_LINES)
    .map(([says, alike]) => (
      <OriginNote
        key={says}
        says={says!}
        parts={
          alike.length === own.length && own.length > 1 ? [] : alike.map((one) => one.path.slice(path.length))
        }
        origin={alike[0]!}
      />
    ))
}

type NoteProps = {
  says: string
  /** The parts of the argument that it is true of; none: of all. */
  parts: readonly string[]
  origin: ArgumentOrigin
}

function OriginNote({ says, parts, origin }: NoteProps) {
  const { goTo } = useReplay()
  const source = 'step' in origin.origin ? origin.origin.step : origin.via?.step
  const names = parts.map((part) => visibleText(part.replace(/^\./, ''))).filter((name) => name !== '')
  const more = names.length > MOST_PARTS ? ` and ${names.length - MOST_PARTS} more` : ''
  const text = [
    '←',
    ...(names.length === 0 ? [] : [names.slice(0, MOST_PARTS).join(', ') + more]),
    says,
  ].join(' ')
  if (source === undefined) return <span className="argument-origin">{text}</span>
  return (
    <button type="button" className="argument-origin" onClick={() => goTo(source.id)}>
      {text}
    </button>
  )
}

/** Longer sessions are not read whole to say where a value came from. */
const TRACED_UP_TO = 500

/** Steps are read once, however many of their actions are looked at. */
const tracers = new WeakMap<readonly Step[], ArgumentTracer>()

/** Where the arguments of an action came from; empty until the steps before it are there. */
function useArgumentOrigins(step: Step): ArgumentOrigin[] {
  const { timeline } = useReplay()
  const { steps, session } = timeline
  const isTraced = step.kind === 'action' && steps.length <= TRACED_UP_TO
  const hasAll = useMemo(() => isTraced && steps.every(({ hasPayload }) => hasPayload), [isTraced, steps])
  const { data } = useSessionPayloads(session.id, { enabled: isTraced && !hasAll })
  const whole = useMemo(
    () =>
      hasAll ? steps : data === undefined ? undefined : steps.map((known) => data.get(known.id) ?? known),
    [hasAll, steps, data],
  )
  return useMemo(() => {
    if (!isTraced || whole === undefined) return []
    const tracer = tracers.get(whole) ?? createArgumentTracer(whole)
    tracers.set(whole, tracer)
    return tracer(step)
  }, [isTraced, whole, step])
}
