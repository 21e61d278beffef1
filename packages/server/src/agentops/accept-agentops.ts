import type { AgentOpsItems } from '@playhead/model'
import { acceptLogs, acceptSpans } from '../ingest/accept.ts'
import type { Services } from '../process/services.ts'

/** The way of everything that arrives: it resolves when all of it is on disk. */
export async function acceptAgentOps(
  project: string,
  { spans, logs }: AgentOpsItems,
  { targets, counters }: Services,
): Promise<void> {
  while (targets.steps.isCrowded) await targets.steps.room()
  while (targets.logs.isCrowded) await targets.logs.room()
  const spansDurable = spans.length === 0 ? undefined : acceptSpans(project, spans, targets)
  const logsDurable = logs.length === 0 ? undefined : acceptLogs(project, logs, targets).durable
  await Promise.all([spansDurable, logsDurable])
  counters.spansStored += spans.length
  counters.logsStored += logs.length
}
