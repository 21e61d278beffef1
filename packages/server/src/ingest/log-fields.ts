import {
  emptyAttributes,
  type Attributes,
  type AttributeValue,
  type LogRecord,
  type Scope,
} from '@playhead/model'
import { isMissingId } from './ids.ts'
import { findTimeFault } from './time-fault.ts'

/** A log record's fields as they are on the wire: ids in hex or empty, times 0 when they were not sent. */
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

/** `traceId` stays empty when the record was written in no trace. */
export function toLogRecord(fields: LogFields, resource: Attributes, scope: Scope): LogRecord {
  return {
    traceId: isMissingId(fields.traceId) ? '' : fields.traceId,
    spanId: isMissingId(fields.spanId) ? null : fields.spanId,
    timeNs: fields.timeNs === 0n ? fields.observedTimeNs : fields.timeNs,
    severity: fields.severityText === '' ? severityWord(fields.severityNumber) : fields.severityText,
    name: fields.eventName === '' ? eventNameAttribute(fields.attributes) : fields.eventName,
    body: fields.body,
    attributes: fields.attributes,
    resource,
    scope,
  }
}

/** Why a record cannot be stored; null when it can. */
export function findLogFault({ timeNs }: LogRecord): string | null {
  if (timeNs === 0n) return 'it has neither a time nor an observed time'
  return findTimeFault('its time', timeNs)
}

export const severityWords = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']

/** OTLP has four numbers for each word: 9 to 12 are info. */
function severityWord(severityNumber: number): string {
  return severityWords[Math.floor((severityNumber - 1) / 4)] ?? ''
}

/** Where senders older than OTLP's own field put the event's name. */
function eventNameAttribute(attributes: Attributes): string {
  const name = attributes['event.name']
  return typeof name === 'string' ? name : ''
}
