import type { ReactNode } from 'react'

export function DetailSection({
  title,
  note,
  children,
}: {
  title: string
  note?: ReactNode
  children: ReactNode
}) {
  return (
    <section className="detail-section">
      <h3>
        {title}
        {note !== undefined && <span className="detail-note">{note}</span>}
      </h3>
      {children}
    </section>
  )
}
