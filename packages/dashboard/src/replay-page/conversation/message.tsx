import { Bot, ChevronRight, MessageSquare, ScrollText, User, Wrench, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { visibleText, type Message } from '@playhead/model'
import { CopyAction } from '../../ui/controls/copy-action.tsx'
import { MessagePart, partText } from './message-part.tsx'

const icons: Record<string, LucideIcon> = { system: ScrollText, user: User, assistant: Bot, tool: Wrench }
/** A system prompt is long and always the same; its beginning tells which it is. */
const FOLDED_FROM = 320

type MessageProps = {
  message: Message
  /** The position of the model call it belongs to. */
  call: number
  isNew?: boolean
}

/** One message of a conversation. */
export function MessageView({ message, call, isNew = false }: MessageProps) {
  const { role } = message
  const text = message.parts.map(partText).join('\n')
  const isFoldable = role === 'system' && text.length > FOLDED_FROM
  const [isOpen, setIsOpen] = useState(!isFoldable)
  const [isRaw, setIsRaw] = useState(false)
  const Icon = icons[role] ?? MessageSquare
  return (
    <article className={`message is-${role in icons ? role : 'other'}${isNew ? ' is-new' : ''}`}>
      <header className="message-head">
        <Icon size={13} aria-hidden="true" />
        <b>{visibleText(role)}</b>
        {message.name !== undefined && <span className="dim">{visibleText(message.name)}</span>}
        {isNew && <span className="message-new">new</span>}
        {isFoldable && (
          <button
            type="button"
            className="message-fold"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            <ChevronRight size={12} aria-hidden="true" />
            {isOpen ? 'fold' : 'show all'}
          </button>
        )}
        <span className="value-tools">
          <button type="button" aria-pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
            raw
          </button>
          <CopyAction label="Copy this message" read={() => text} />
        </span>
      </header>
      {isOpen ? (
        message.parts.map((part, index) => (
          <MessagePart
            key={index}
            part={part}
            call={message.isOutput === true ? call : undefined}
            isRaw={isRaw}
          />
        ))
      ) : (
        <p className="message-beginning dim">{visibleText(text.slice(0, 220).replaceAll(/\s+/g, ' '))}…</p>
      )}
      {message.parts.length === 0 && <p className="dim">empty</p>}
    </article>
  )
}
