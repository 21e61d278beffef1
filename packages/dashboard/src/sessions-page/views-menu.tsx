import { Bookmark, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from '../ui/controls/button.tsx'
import { Popover } from '../ui/controls/popover.tsx'
import { TextField } from '../ui/controls/text-field.tsx'
import { addView, isSameView, loadViews, storeViews, type SavedView } from './saved-views.ts'
import './views-menu.css'

type ViewsMenuProps = { current: SavedView['search']; onChoose: (search: SavedView['search']) => void }

/** Searches under a name, kept in this browser. */
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
                label={`Delete the view ${view.name}`}
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
  return parts.filter(Boolean).join(' · ') || 'everything'
}
