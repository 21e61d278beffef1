import { visibleText } from '@playhead/model'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { Dialog } from 'radix-ui'
import { FileText, Folder, Palette, Play, Search, type LucideIcon } from 'lucide-react'
import { useDeferredValue, useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import { useProjects } from '../api/projects.ts'
import { useSomeSessions } from '../api/sessions.ts'
import { findCommands, type Command } from './commands.ts'
import './command-palette.css'

const SESSIONS_SHOWN = 6

const icons: Record<Command['icon'], LucideIcon> = {
  session: Play,
  page: FileText,
  theme: Palette,
  project: Folder,
  search: Search,
}

/** Opens with ⌘K and finds pages, projects and sessions. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [active, setActive] = useState(0)
  const listId = useId()
  const commands = useCommands(typed)
  const run = useRunCommand(onClose)
  const current = Math.min(active, commands.length - 1)
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const chosen = commands[current]
    if (step !== 0) setActive((current + step + commands.length) % commands.length)
    else if (event.key === 'Enter' && chosen !== undefined) run(chosen)
    else return
    event.preventDefault()
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="palette-shade" />
        <Dialog.Content className="palette" aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">Search or go to</Dialog.Title>
          <div className="palette-box">
            <Search size={16} aria-hidden="true" />
            <input
              role="combobox"
              aria-label="Search or go to"
              aria-expanded="true"
              aria-controls={listId}
              aria-activedescendant={current >= 0 ? `${listId}-${current}` : undefined}
              placeholder="Search pages and sessions, or paste a session id"
              spellCheck={false}
              value={typed}
              onChange={(event) => {
                setTyped(event.target.value)
                setActive(0)
              }}
              onKeyDown={onKeyDown}
            />
          </div>
          <CommandList id={listId} commands={commands} active={current} onActive={setActive} onRun={run} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function useCommands(typed: string): Command[] {
  const text = useDeferredValue(typed.trim())
  const { data: sessions = [] } = useSomeSessions({
    limit: SESSIONS_SHOWN,
    ...(text !== '' && { name: text }),
  })
  const { data: projects = [] } = useProjects()
  return findCommands(typed, { sessions, projects })
}

function useRunCommand(onClose: () => void) {
  const navigate = useNavigate()
  const router = useRouter()
  return ({ target }: Command) => {
    onClose()
    if (target.kind === 'do') target.action()
    else if (target.kind === 'session')
      void navigate({ to: '/sessions/$sessionId', params: { sessionId: target.sessionId } })
    else if (target.kind === 'filter') void navigate({ to: '/sessions', search: { q: target.filter } })
    else if (target.kind === 'project')
      void navigate({ to: '/sessions', search: { project: target.project } })
    else {
      const { project } = router.state.location.search
      router.history.push(project === undefined ? target.path : `${target.path}?project=${project}`)
    }
  }
}

type CommandListProps = {
  id: string
  commands: readonly Command[]
  active: number
  onActive: (index: number) => void
  onRun: (command: Command) => void
}

function CommandList({ id, commands, active, onActive, onRun }: CommandListProps) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    <ul ref={list} id={id} role="listbox" aria-label="Results" className="palette-list">
      {commands.map((command, index) => {
        const Icon = icons[command.icon]
        const isFirst = commands[index - 1]?.group !== command.group
        return (
          <li
            key={command.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            className="palette-item"
            data-group={isFirst ? command.group : undefined}
            onMouseMove={() => onActive(index)}
            onClick={() => onRun(command)}
          >
            <Icon size={14} aria-hidden="true" />
            <span className="palette-label">{visibleText(command.label)}</span>
            {command.hint !== undefined && <span className="palette-hint">{command.hint}</span>}
          </li>
        )
      })}
    </ul>
  )
}
