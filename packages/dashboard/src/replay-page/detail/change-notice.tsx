import { visibleText, type StepChange } from '@playhead/model'
import { LongText } from '../../ui/data/long-text.tsx'
import './change-notice.css'

/** What somebody sent about a step after it had ended, beside what was there. */
export function ChangeNotice({ change }: { change: StepChange }) {
  const { at, fields, isRewrite = false } = change
  return (
    <details className="change-notice">
      <summary>
        <b>Changed after it ended</b>
        <span>
          {isRewrite ? 'replaced with an admin key' : 'the first version is shown'} ·{' '}
          <time dateTime={at}>{new Date(at).toLocaleString()}</time>
        </span>
      </summary>
      <table>
        <thead>
          <tr>
            <th>Field</th>
            <th>Was</th>
            <th>Sent later</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ field, was, sent }) => (
            <tr key={field}>
              <th scope="row">{visibleText(field)}</th>
              <td>
                <LongText text={was} limit={200} className="mono" />
              </td>
              <td>
                {sent === '' ? (
                  <span className="dim">removed</span>
                ) : (
                  <LongText text={sent} limit={200} className="mono" />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
