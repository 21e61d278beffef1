import {
  Bot,
  ChevronRight,
  MessageSquare,
  ScrollText,
  User,
  Wrench,
  type LucideIcon,
  ArrowRight,
  Brain,
  CornerDownLeft,
  ImageOff,
} from 'lucide-react'
import { useState } from 'react'
import { textOfValue, visibleText, type Message, type Part } from '@playhead/model'
import { CopyButton } from '../../ui/controls/copy-button.tsx'
import { isBranch, readJsonText } from '../../ui/data/json-path.ts'
import { JsonTree } from '../../ui/data/json-tree.tsx'
import { LongText } from '../../ui/data/long-text.tsx'
import { Markdown } from '../../ui/data/markdown.tsx'
import { actionOf } from './model-calls.ts'
import { useReplay } from '../playback/replay-context.ts'
import { StepLink } from '../steps/step-link.tsx'

const icons: Record<string, LucideIcon> = { system: ScrollText, user: User, assistant: Bot, tool: Wrench }
/** System prompts are long and repeat; their beginning identifies them. */
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
            {isOpen ? 'Collapse' : 'Show all'}
          </button>
        )}
        <span className="value-tools">
          <button type="button" aria-pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
            Raw
          </button>
          <CopyButton label="Copy message" read={() => text} />
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
      {message.parts.length === 0 && <p className="dim">Empty</p>}
    </article>
  )
}

const LONGEST_MARKDOWN = 20_000
/** Image types that can't contain scripts. */
const shownImages = /^image\/(?:png|jpeg|gif|webp|avif)$/

function MessagePart({ part, call, isRaw }: { part: Part; call: number | undefined; isRaw: boolean }) {
  if (isRaw)
    return (
      <LongText text={part.type === 'text' ? part.text : textOfValue(part)} limit={4_000} className="mono" />
    )
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text.length > LONGEST_MARKDOWN ? (
        <LongText text={part.text} limit={4_000} />
      ) : (
        <Markdown text={part.text} />
      )
    case 'reasoning':
      return <ReasoningPart part={part} />
    case 'tool-call':
      return <ToolCallPart part={part} call={call} />
    case 'tool-result':
      return <ToolResultPart part={part} call={call} />
    case 'media':
      return <MediaPart part={part} />
    default:
      return <JsonTree value={part.raw} />
  }
}

/** A part as text, for the clipboard. */
function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return part.text ?? ''
    case 'tool-call':
      return `${part.name}(${textOfValue(part.arguments)})`
    case 'tool-result':
      return textOfValue(part.result)
    case 'media':
      return `[${part.modality}]`
    default:
      return textOfValue(part.raw)
  }
}

function ReasoningPart({ part }: { part: Extract<Part, { type: 'reasoning' }> }) {
  const isHidden = part.text === undefined || part.text === ''
  return (
    <details className="reasoning">
      <summary>
        <Brain size={12} aria-hidden="true" />
        Reasoning{isHidden && (part.isRedacted === true ? ' (encrypted by the provider)' : ' (not recorded)')}
      </summary>
      {!isHidden && <LongText text={part.text!} limit={3_000} />}
    </details>
  )
}

function ToolCallPart({
  part,
  call,
}: {
  part: Extract<Part, { type: 'tool-call' }>
  call: number | undefined
}) {
  const { timeline } = useReplay()
  const action = actionOf(timeline, call, part)
  const given = readJsonText(part.arguments)
  return (
    <div className="tool-part">
      <div className="tool-part-head">
        <ArrowRight size={13} aria-hidden="true" />
        <span className="mono">{visibleText(part.name)}</span>
        {part.isServerSide === true && <span className="dim">run by the provider</span>}
        {action !== undefined && <StepLink position={action} text="" />}
      </div>
      {given !== undefined && !(isBranch(given) && Object.keys(given).length === 0) && (
        <JsonTree value={given} />
      )}
    </div>
  )
}

function ToolResultPart({
  part,
  call,
}: {
  part: Extract<Part, { type: 'tool-result' }>
  call: number | undefined
}) {
  const { timeline } = useReplay()
  const action = part.id === undefined ? undefined : actionOf(timeline, call, { id: part.id })
  const result = readJsonText(part.result)
  return (
    <div className={`tool-part${part.isError === true ? ' is-bad' : ''}`}>
      <div className="tool-part-head">
        <CornerDownLeft size={13} aria-hidden="true" />
        <span className="mono">{visibleText(part.name ?? 'result')}</span>
        {part.isError === true && <span className="step-title-bad">failed</span>}
        {action !== undefined && <StepLink position={action} text="" />}
      </div>
      {isBranch(result) ? (
        <JsonTree value={result} />
      ) : (
        <LongText text={textOfValue(result)} limit={2_000} className="mono" />
      )}
    </div>
  )
}

/** Shows embedded images. Media behind a URL is never fetched. */
function MediaPart({ part }: { part: Extract<Part, { type: 'media' }> }) {
  const [isBroken, setIsBroken] = useState(false)
  const { base64, mimeType = '', modality, uri, fileId } = part
  if (base64 !== undefined && shownImages.test(mimeType) && !isBroken)
    return (
      <img
        className="media"
        alt={`${modality} in the message`}
        src={`data:${mimeType};base64,${base64}`}
        onError={() => setIsBroken(true)}
      />
    )
  return (
    <p className="media-note dim">
      <ImageOff size={13} aria-hidden="true" />
      {visibleText(
        [modality, mimeType, uri ?? fileId].filter((text) => text !== undefined && text !== '').join(' · '),
      ).slice(0, 300)}
      {base64 !== undefined && ` · ${Math.round((base64.length * 3) / 4 / 1000)} KB`}
    </p>
  )
}
