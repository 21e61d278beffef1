import { useMemo, useState } from 'react'
import { formatOffset, textOfValue, visibleText, type LogEntry, type Step } from '@playhead/model'
import { LongText } from '../../ui/data/long-text.tsx'
import { isAtRest, usePlayerState, useReplay } from '../playback/replay-context.ts'
import './logs-tab.css'

const MAX_LOGS = 500

/** Logs of the step or of the whole session. Entries after the playhead are dimmed. */
export function LogsTab({ step }: { step: Step }) {
  const { timeline } = useReplay()
  const [isAll, setIsAll] = useState(false)
  const all = useMemo(
    () =>
      timeline.steps.flatMap(({ logs }) => logs ?? []).sort((left, right) => left.offsetMs - right.offsetMs),
    [timeline.steps],
  )
  const logs = isAll ? all : (step.logs ?? [])
  if (all.length === 0)
    return (
      <div className="detail-section">
        <p className="dim">No logs in this session.</p>
      </div>
    )
  return (
    <div className="detail-section">
      <label className="logs-scope">
        <input type="checkbox" checked={isAll} onChange={(event) => setIsAll(event.target.checked)} />
        Show all {all.length} logs of the session
      </label>
      {logs.length === 0 && <p className="dim">No logs in this step.</p>}
      <ol className="logs">
        {logs.slice(0, MAX_LOGS).map((log, index) => (
          <LogLine key={index} log={log} />
        ))}
      </ol>
      {logs.length > MAX_LOGS && <p className="dim">{logs.length - MAX_LOGS} more in the recording.</p>}
    </div>
  )
}

function LogLine({ log }: { log: LogEntry }) {
  const isAhead = usePlayerState((state) => !isAtRest(state) && log.offsetMs > state.positionMs)
  const isBad = /^(error|fatal|critical)/i.test(log.severity)
  return (
    <li className={isAhead ? 'log is-ahead' : 'log'}>
      <span className="mono dim">{formatOffset(log.offsetMs)}</span>
      <span className={isBad ? 'log-severity is-bad' : 'log-severity'}>
        {visibleText(log.severity || 'log')}
      </span>
      <span className="log-body">
        {log.name !== '' && <b>{visibleText(log.name)} </b>}
        {log.body !== null && <LongText text={textOfValue(log.body)} limit={400} className="mono" />}
      </span>
    </li>
  )
}
