import {
  emptyAttributes,
  type Attributes,
  type AttributeValue,
  type LogRecord,
  type Scope,
} from '@playhead/model'
import { isMissingId } from './ids.ts'
import { findTimeFault } from './item-faults.ts'

/** The fields of a log record as sent: ids in hex or empty, absent times 0. */
export type LogFields = {
  traceId: string
  spanId: string
  timeNs: bigint
  observedTimeNs: bigint
  severityText: string
  severityNumber: number
  eventName: string
  body: AttributeValue
  attributes: Attributes
}

export function emptyLogFields(): LogFields {
  return {
    traceId: '',
    spanId: '',
    timeNs: 0n,
    observedTimeNs: 0n,
    severityText: '',
    severityNumber: 0,
    eventName: '',
    body: null,
    attributes: emptyAttributes(),
  }
}

/** `traceId` stays empty if the record belongs to no trace. */
export function toLogRecord(fields: LogFields, resource: Attributes, scope: Scope): LogRecord {
  return {
    traceId: isMissingId(fields.traceId) ? '' : fields.traceId,
    spanId: isMissingId(fields.spanId) ? null : fields.spanId,
    timeNs: fields.timeNs === 0n ? fields.observedTimeNs : fields.timeNs,
    severity: fields.severityText === '' ? severityName(fields.severityNumber) : fields.severityText,
    name: fields.eventName === '' ? eventNameAttribute(fields.attributes) : fields.eventName,
    body: fields.body,
    attributes: fields.attributes,
    resource,
    scope,
  }
}

/** Why a record cannot be stored; null if it can. */
export function findLogFault({ timeNs }: LogRecord): string | null {
  if (timeNs === 0n) return 'it has neither a time nor an observed time'
  return findTimeFault('its time', timeNs)
}

export const severityNames = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** OTLP has four numbers per name: 9 to 12 are info. */
function severityName(severityNumber: number): string {
  return severityNames[Math.floor((severityNumber - 1) / 4)] ?? ''
}

/** Senders that predate OTLP's own field put the event's name here. */
function eventNameAttribute(attributes: Attributes): string {
  const name = attributes['event.name']
  return typeof name === 'string' ? name : ''
}
