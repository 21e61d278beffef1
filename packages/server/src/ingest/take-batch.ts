import type { Services } from '../process/services.ts'
import { acceptLogs, acceptSpans } from './accept.ts'
import type { ContentFormat } from './http/content-format.ts'
import { decodeLogs } from './http/decode-logs.ts'
import { decodeTraces } from './http/decode-traces.ts'
import type { Rejection } from './rejection.ts'

export type Payload = { body: Buffer; contentType: string }

/** What of a batch was not stored, and the format it came in. */
export type Taken = { rejected: Rejection[]; format: ContentFormat }

/** OTLP traces, from bytes to disk, whatever they came by. */
export async function takeTraces(services: Services, project: string, payload: Payload): Promise<Taken> {
  const { counters, targets } = services
  while (targets.steps.isCrowded) await targets.steps.room()
  const { stored, rejected, format, durable } = acceptTraces(services, project, payload)
  await durable
  counters.spansStored += stored
  counters.spansRejected += rejected.length
  return { rejected, format }
}

/** Decoded spans end with this function: nobody holds them while the disk is waited for. */
function acceptTraces(services: Services, project: string, { body, contentType }: Payload) {
  const { spans, rejected, format } = decodeTraces(body, contentType)
  return { stored: spans.length, rejected, format, durable: acceptSpans(project, spans, services.targets) }
}

/** The same for OTLP logs. */
export async function takeLogs(services: Services, project: string, payload: Payload): Promise<Taken> {
  const { counters, targets } = services
  while (targets.logs.isCrowded) await targets.logs.room()
  const { seen, rejected, format, durable } = acceptRecords(services, project, payload)
  await durable
  counters.logsStored += seen - rejected.length
  counters.logsRejected += rejected.length
  return { rejected, format }
}

function acceptRecords(services: Services, project: string, { body, contentType }: Payload) {
  const { records, rejected, format } = decodeLogs(body, contentType)
  const { rejected: unattached, durable } = acceptLogs(project, records, services.targets)
  const all = [...rejected, ...unattached]
  return { seen: records.length + rejected.length, rejected: all, format, durable }
}
