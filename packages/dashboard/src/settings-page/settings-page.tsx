import { Link, useParams } from '@tanstack/react-router'
import { useEffect, useRef, type ComponentType } from 'react'
import { NoSuchPage } from '../ui/data/page-problem.tsx'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import { AboutSection } from './about-section.tsx'
import { AlertsSection } from './alerts/alerts-section.tsx'
import { AuditSection } from './audit-section.tsx'
import { BackupSection } from './backup-section.tsx'
import { HealthSection } from './health-section.tsx'
import { KeysSection } from './keys-section.tsx'
import { LoginsSection } from './logins-section.tsx'
import { PeopleSection } from './people-section.tsx'
import { MonitorsSection } from './monitors/monitors-section.tsx'
import { PricesSection } from './prices-section.tsx'
import { ProjectsSection } from './projects-section.tsx'
import { QuotaSection } from './quota-section.tsx'
import { RedactionSection, RetentionSection } from './retention-section.tsx'
import './settings-page.css'

const sections: readonly { id: string; title: string; Section: ComponentType }[] = [
  { id: 'projects', title: 'Projects', Section: ProjectsSection },
  { id: 'keys', title: 'Keys', Section: KeysSection },
  { id: 'logins', title: 'Logins', Section: LoginsSection },
  { id: 'people', title: 'People', Section: PeopleSection },
  { id: 'monitors', title: 'Monitors', Section: MonitorsSection },
  { id: 'alerts', title: 'Alerts', Section: AlertsSection },
  { id: 'prices', title: 'Prices', Section: PricesSection },
  { id: 'retention', title: 'Retention', Section: RetentionSection },
  { id: 'quota', title: 'Quota', Section: QuotaSection },
  { id: 'redaction', title: 'Redaction', Section: RedactionSection },
  { id: 'audit', title: 'Audit log', Section: AuditSection },
  { id: 'backup', title: 'Backup', Section: BackupSection },
  { id: 'health', title: 'Health', Section: HealthSection },
  { id: 'about', title: 'About', Section: AboutSection },
]

export function SettingsPage() {
  const { section } = useParams({ from: '/settings/$section' })
  const shown = sections.find(({ id }) => id === section)
  usePageTitle(shown === undefined ? 'Page not found' : `${shown.title} · Settings`)
  const nav = useRef<HTMLElement>(null)
  // On a phone, the active section may be scrolled out of view.
  useEffect(() => {
    const active = nav.current?.querySelector('[data-status="active"]')
    active?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [section])
  if (shown === undefined) return <NoSuchPage />
  return (
    <div className="settings-page">
      <nav ref={nav} className="settings-nav" aria-label="Settings">
        {sections.map(({ id, title }) => (
          <Link key={id} to="/settings/$section" params={{ section: id }}>
            {title}
          </Link>
        ))}
      </nav>
      {/* It scrolls by itself, and some sections have nothing else to focus. */}
      <div className="settings-main" role="region" aria-labelledby="settings-title" tabIndex={0}>
        <h1 id="settings-title">{shown.title}</h1>
        <shown.Section />
      </div>
    </div>
  )
}
