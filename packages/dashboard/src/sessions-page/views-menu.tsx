import { Bookmark, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from '../ui/controls/button.tsx'
import { Popover } from '../ui/controls/menu.tsx'
import { TextField } from '../ui/controls/fields.tsx'
import type { SessionsSearch } from './sessions-search.ts'
import './views-menu.css'

type ViewsMenuProps = { current: SavedView['search']; onChoose: (search: SavedView['search']) => void }

/** Named searches, saved in this browser. */
export function ViewsMenu({ current, onChoose }: ViewsMenuProps) {
  const [views, setViews] = useState(loadViews)
  const [isOpen, setIsOpen] = useState(false)
  const keep = (next: SavedView[]) => {
    storeViews(next)
    setViews(next)
  }
  const shown = views.find(({ search }) => isSameView(search, current))
  return (
    <Popover
      label="Saved views"
      isOpen={isOpen}
      onOpenChange={setIsOpen}
      trigger={
        <Button className="views-button" title="Saved views">
          <Bookmark size={14} aria-hidden="true" />
          <span>{shown?.name ?? 'Views'}</span>
        </Button>
      }
    >
      <div className="views">
        {views.length === 0 && <p className="dim">No saved views yet.</p>}
        <ul aria-label="Views">
          {views.map((view) => (
            <li key={view.name}>
              <button
                type="button"
                className="views-choose"
                aria-current={view === shown}
                onClick={() => {
                  setIsOpen(false)
                  onChoose(view.search)
                }}
              >
                <strong>{view.name}</strong>
                <span className="dim">{describeView(view.search)}</span>
              </button>
              <IconButton
                label={`Delete view ${view.name}`}
                onClick={() => keep(views.filter(({ name }) => name !== view.name))}
              >
                <Trash2 size={14} aria-hidden="true" />
              </IconButton>
            </li>
          ))}
        </ul>
        <SaveForm onSave={(name) => keep(addView(views, { name, search: current }))} />
      </div>
    </Popover>
  )
}

function SaveForm({ onSave }: { onSave: (name: string) => void }) {
  const [name, setName] = useState('')
  return (
    <form
      className="views-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() === '') return
        onSave(name.trim())
        setName('')
      }}
    >
      <TextField label="Save this view as" value={name} onChange={setName} maxLength={60} />
      <Button type="submit" disabled={name.trim() === ''}>
        Save
      </Button>
    </form>
  )
}

function describeView({ q, from, to, sort }: SavedView['search']): string {
  const parts = [
    q,
    from !== undefined && `since ${from}`,
    to !== undefined && `until ${to}`,
    sort && `by ${sort}`,
  ]
  return parts.filter(Boolean).join(' · ') || 'All sessions'
}

type SavedView = { name: string; search: Pick<SessionsSearch, 'q' | 'from' | 'to' | 'sort'> }

const KEY = 'playhead.views'
const MOST_VIEWS = 50

/** Parses saved views; ignores anything that is not a view. */
export function readViews(text: string | null): SavedView[] {
  try {
    const parsed: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(parsed) ? parsed.filter(isView) : []
  } catch {
    return []
  }
}

function loadViews(): SavedView[] {
  return readViews(localStorage.getItem(KEY))
}

function storeViews(views: readonly SavedView[]): void {
  localStorage.setItem(KEY, JSON.stringify(views))
}

/** Adds a view; replaces one with the same name. */
export function addView(views: readonly SavedView[], view: SavedView): SavedView[] {
  return [...views.filter(({ name }) => name !== view.name), view].slice(-MOST_VIEWS)
}

export function isSameView(left: SavedView['search'], right: SavedView['search']): boolean {
  return (['q', 'from', 'to', 'sort'] as const).every((field) => left[field] === right[field])
}

function isView(value: unknown): value is SavedView {
  const { name, search } = (value ?? {}) as Partial<SavedView>
  return typeof name === 'string' && typeof search === 'object' && search !== null
}
