import { countOf, formatBytes, formatCount, formatDuration, visibleText } from '@playhead/model'
import { useEffect, useState, type ReactNode } from 'react'
import { useHealth, type Health } from '../api/health.ts'
import { Age } from '../ui/data/age.tsx'
import { ErrorNotice, NotLoaded } from '../ui/data/error-notice.tsx'
import { ShareBar } from '../ui/charts/share-bar.tsx'
import './health-section.css'

/** Below this, the server warns too and verifies its writes. */
const LOW_DISK_BYTES = 1024 ** 3

export function HealthSection() {
  const health = useHealth()
  const rate = useIngestRate(health.data)
  if (health.data === undefined) return <NotLoaded query={health} lines={8} />
  const figures = health.data
  return (
    <>
      <p className="dim">
        Since the server started {formatDuration(figures.uptimeMs)} ago. Updates every two seconds.
      </p>
      {health.error !== null && <ErrorNotice error={health.error} />}
      <dl className="health">
        <Figure name="Ingest rate">
          {rate === undefined ? '…' : `${formatCount(Math.round(rate))} rows/s`}
        </Figure>
        <Figure name="Waiting to be stored" isBad={figures.pendingRows > 100_000}>
          {formatCount(figures.pendingRows)} rows
        </Figure>
        <Figure name="Spans stored">{formatCount(figures.spansStored)}</Figure>
        <Figure name="Spans rejected" isBad={figures.spansRejected > 0}>
          {formatCount(figures.spansRejected)}
        </Figure>
        <Figure name="Log records stored">{formatCount(figures.logsStored)}</Figure>
        <Figure name="Engine restarts" isBad={figures.engineRestarts > 0}>
          {formatCount(figures.engineRestarts)}
        </Figure>
        <Figure name="Damaged files" isBad={figures.damagedFiles.length > 0}>
          {formatCount(figures.damagedFiles.length)}
        </Figure>
        <Figure name="Live viewers">{formatCount(figures.liveViewers)}</Figure>
        <Figure name="Free disk space" isBad={(figures.disk.freeBytes ?? Infinity) < LOW_DISK_BYTES}>
          {figures.disk.freeBytes === null ? 'unknown' : formatBytes(figures.disk.freeBytes)}
        </Figure>
      </dl>
      {figures.servers.length > 1 && <Servers servers={figures.servers} />}
      {figures.damagedFiles.length > 0 && <DamagedFiles files={figures.damagedFiles} />}
      {figures.badRows.count > 0 && <BadRows {...figures.badRows} />}
      <h2>Disk space by table</h2>
      <DiskTable tables={figures.disk.tables} />
    </>
  )
}

function Servers({ servers }: { servers: Health['servers'] }) {
  return (
    <>
      <h2>Servers on this store</h2>
      <p className="dim">
        The first one runs retention. If it stops, the next one takes over within seconds.
      </p>
      <table className="settings-table">
        <thead>
          <tr>
            <th>Server</th>
            <th>Started</th>
            <th>Last seen</th>
          </tr>
        </thead>
        <tbody>
          {servers.map(({ id, url, startedAt, seenAt, isThisOne }) => (
            <tr key={id}>
              <td className="mono">
                {visibleText(url)}
                {isThisOne && <span className="dim"> (this one)</span>}
              </td>
              <td>
                <Age time={startedAt} />
              </td>
              <td>
                <Age time={seenAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function BadRows({ count, rows }: Health['badRows']) {
  return (
    <>
      <h2>{countOf(count, 'damaged row')}</h2>
      <p className="dim">
        The server could not read these rows of its store. It leaves them out, and everything else works.
      </p>
      <table className="settings-table">
        <thead>
          <tr>
            <th>Table</th>
            <th>Row</th>
            <th>Problem</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ table, id, problem }) => (
            <tr key={`${table} ${id} ${problem}`}>
              <td className="mono">{table}</td>
              <td className="mono health-row">{visibleText(id)}</td>
              <td>{visibleText(problem)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function Figure({ name, isBad = false, children }: { name: string; isBad?: boolean; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={isBad ? 'is-bad' : ''}>{children}</dd>
    </div>
  )
}

function DamagedFiles({ files }: { files: Health['damagedFiles'] }) {
  return (
    <>
      <h2>Damaged files</h2>
      <p className="dim">
        Kept in the folder <code>damaged</code> of the data directory, and listed here until you remove them
        and restart the server.
      </p>
      <table className="settings-table">
        <thead>
          <tr>
            <th>Found</th>
            <th>What happened</th>
            <th className="number">Rows lost</th>
          </tr>
        </thead>
        <tbody>
          {files.map(({ name, problem, foundAt, rows }) => (
            <tr key={name}>
              <td>
                <Age time={foundAt} />
              </td>
              <td>
                {problem}
                <div className="mono dim">{name}</div>
              </td>
              <td className="number">{rows === null ? 'unknown' : formatCount(rows)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

type HealthSample = Pick<Health, 'spansStored' | 'logsStored'> & { readAtMs: number }

function useIngestRate(now: HealthSample | undefined): number | undefined {
  const [pair, setPair] = useState<{ before: HealthSample | undefined; now: HealthSample | undefined }>()
  useEffect(() => setPair((last) => ({ before: last?.now, now })), [now])
  return pair?.now === undefined ? undefined : ingestRate(pair.before, pair.now)
}

/** Rows per second between two samples; undefined until there are two, or when the server restarted in between. */
export function ingestRate(before: HealthSample | undefined, now: HealthSample): number | undefined {
  if (before === undefined || now.readAtMs <= before.readAtMs) return undefined
  const rows = now.spansStored + now.logsStored - before.spansStored - before.logsStored
  return rows < 0 ? undefined : rows / ((now.readAtMs - before.readAtMs) / 1_000)
}

function DiskTable({ tables }: { tables: Health['disk']['tables'] }) {
  const most = Math.max(1, ...tables.map(({ bytes }) => bytes))
  return (
    <table className="settings-table">
      <thead>
        <tr>
          <th>Table</th>
          <th className="health-bar">
            <span className="visually-hidden">Share</span>
          </th>
          <th className="number">On disk</th>
          <th className="number">Rows</th>
        </tr>
      </thead>
      <tbody>
        {tables.map(({ name, rows, bytes }) => (
          <tr key={name}>
            <td className="mono">{name}</td>
            <td className="health-bar">
              <ShareBar share={bytes / most} />
            </td>
            <td className="number">{formatBytes(bytes)}</td>
            <td className="number">{formatCount(rows)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
