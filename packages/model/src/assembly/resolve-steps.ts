import { addLogs } from './add-logs.ts'
import { decideKinds } from './decide-kinds.ts'
import { attributeErrors, type ErrorOptions } from './attribute-errors.ts'
import { countUsage } from './count-usage.ts'
import { inferActions } from './infer-actions.ts'
import { joinParts } from './join-parts.ts'
import { takeReportsElsewhere } from './join-reports.ts'
import { linkParents, walkDown } from './link-parents.ts'
import type { LogOutline } from '../session/log-draft.ts'
import { nestByTime } from './nest-by-time.ts'
import type { Pricer } from '../prices/price.ts'
import type { ResolvedStep } from './resolved-step.ts'
import { repairTimes } from './repair-times.ts'
import type { StepOutline } from '../session/step-draft.ts'
import { createNodes, inStartOrder } from './step-node.ts'

export type ResolveOptions = ErrorOptions & {
  /** Steps whose call is counted in another session. */
  duplicateSteps?: ReadonlySet<string> | undefined
  /** Clients' own spans of calls of this session, which are sessions of their own. */
  reportsElsewhere?: readonly StepOutline[] | undefined
  /** Prices calls whose tokens or model came as log records. */
  pricer?: Pricer | undefined
}

/** Resolves the outlines of one session, in any order, into steps in order of their start. */
export function resolveSteps(
  outlines: readonly StepOutline[],
  logs: readonly LogOutline[] = [],
  options: ResolveOptions = {},
): ResolvedStep[] {
  const created = createNodes(outlines)
  nestByTime(created)
  const nodes = joinParts(created)
  linkParents(nodes)
  const walk = walkDown(nodes)
  repairTimes(walk, nodes)
  addLogs(walk, nodes, { logs, pricer: options.pricer })
  decideKinds(walk)
  if (options.reportsElsewhere !== undefined) takeReportsElsewhere(walk, options.reportsElsewhere)
  countUsage(walk, options.duplicateSteps)
  inferActions(walk, nodes)
  attributeErrors(walk, options)
  return inStartOrder(nodes)
}
