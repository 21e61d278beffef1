import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import './tabs.css'

export type Tab = {
  id: string
  label: string
  /** The number of items in the panel. */
  count?: number | undefined
  look?: 'bad' | undefined
  draw: () => ReactNode
}

/** Tabs; only the selected panel is rendered. */
export function Tabs({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  label: string
  tabs: readonly Tab[]
  chosen: string
  onChoose: (id: string) => void
}) {
  return (
    <Radix.Root className="tabs" value={chosen} onValueChange={onChoose} activationMode="automatic">
      <Radix.List className="tabs-list" aria-label={label}>
        {tabs.map((tab) => (
          <Radix.Trigger key={tab.id} value={tab.id} className={`tab${tab.look === 'bad' ? ' is-bad' : ''}`}>
            {tab.label}
            {tab.count !== undefined && tab.count > 0 && <span className="tab-count">{tab.count}</span>}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id} className="tab-panel">
          {tab.id === chosen && tab.draw()}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
