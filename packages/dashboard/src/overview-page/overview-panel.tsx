import type { ReactNode } from 'react'
import { NotLoaded } from '../ui/data/not-loaded.tsx'
import './overview-panel.css'

type Loaded<Data> = { data: Data | undefined; error: Error | null; refetch: () => unknown }

type OverviewPanelProps<Data> = {
  title: string
  /** What the figures mean, where the title does not say it. */
  note?: ReactNode
  isWide?: boolean
  query: Loaded<Data>
  isEmpty: (data: Data) => boolean
  empty: ReactNode
  children: (data: Data) => ReactNode
}

/** A part of the overview, with what it shows while it loads, when it fails, and when there is nothing. */
export function OverviewPanel<Data>(props: OverviewPanelProps<Data>) {
  const { title, note, query, isEmpty, empty } = props
  return (
    <section className={`overview-panel${props.isWide === true ? ' is-wide' : ''}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note !== undefined && <span className="dim">{note}</span>}
      </header>
      {query.data === undefined ? (
        <NotLoaded query={query} lines={5} />
      ) : isEmpty(query.data) ? (
        <p className="overview-empty">{empty}</p>
      ) : (
        props.children(query.data)
      )}
    </section>
  )
}
