import { countOf, formatDuration, visibleText } from '@playhead/model'
import { useDeliveries, type Delivery } from '../../api/alerts.ts'
import { Age, formatExactTime } from '../../ui/data/age.tsx'
import { NotLoaded } from '../../ui/data/error-notice.tsx'
import { kindNames } from './destination-draft.ts'

type Attempt = Delivery['attempts'][number]

const stateWords: Record<Delivery['state'], string> = {
  waiting: 'Waiting',
  delivered: 'Delivered',
  failed: 'Failed',
  canceled: 'Canceled',
}
const reasonWords: Record<Delivery['reason'], string> = {
  change: '',
  repeat: 'Still firing',
  test: 'Test',
}
const resultWords: Record<Attempt['result'], string> = {
  running: 'Under way',
  delivered: 'Delivered',
  refused: 'Refused',
  unreachable: 'Not reached',
  unanswered: 'No answer; it may have arrived',
}

/** Every message and every attempt to deliver it. */
export function DeliveryLog() {
  const deliveries = useDeliveries()
  if (deliveries.data === undefined) return <NotLoaded query={deliveries} lines={3} />
  if (deliveries.data.length === 0)
    return <p className="settings-note">No messages yet. “Send test” sends one.</p>
  return (
    <table className="settings-table delivery-table" aria-labelledby="deliveries">
      <thead>
        <tr>
          <th>When</th>
          <th>Message</th>
          <th className="extra">To</th>
          <th>Result</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.data.map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} />
        ))}
      </tbody>
    </table>
  )
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const { createdAt, title, reason, state, alerts, attempts, nextAttemptAt, isMaybeTwice } = delivery
  const to = `${visibleText(delivery.destinationName)} (${kindNames[delivery.kind]})`
  return (
    <tr>
      <td className="delivery-time">
        <Age time={createdAt} />
      </td>
      <td>
        {visibleText(title)}
        {reasonWords[reason] !== '' && <span className="dim"> · {reasonWords[reason]}</span>}
        {reason !== 'test' && alerts.length > 1 && (
          <div className="dim">{alerts.map(({ name }) => visibleText(name)).join(', ')}</div>
        )}
        <div className="dim delivery-to">{to}</div>
      </td>
      <td className="extra">{to}</td>
      <td>
        <details className="delivery-attempts">
          <summary>
            <span className={`delivery-state is-${state}`}>{stateWords[state]}</span>
            {isMaybeTwice && <span className="delivery-state is-waiting">Maybe twice</span>}
            <span className="dim delivery-count">{countOf(attempts.length, 'attempt')}</span>
          </summary>
          <ol>
            {attempts.map((attempt) => (
              <li key={attempt.at}>
                <time dateTime={attempt.at}>{formatExactTime(attempt.at)}</time> {describeAttempt(attempt)}
              </li>
            ))}
          </ol>
          {nextAttemptAt !== null && <p className="dim">Next attempt: {formatExactTime(nextAttemptAt)}</p>}
        </details>
      </td>
    </tr>
  )
}

/** "Refused (503) after 12ms: try later". */
export function describeAttempt({ result, status, tookMs, detail }: Attempt): string {
  const code = status === undefined ? '' : ` (${status})`
  const took = tookMs === undefined ? '' : ` after ${formatDuration(tookMs)}`
  const why = detail === undefined ? '.' : `: ${visibleText(detail)}`
  return `${resultWords[result]}${code}${took}${why}`
}
