import { visibleLines } from '@playhead/model'
import { useEffect, useMemo, useState } from 'react'
import './long-text.css'

const PIECE = 40_000
/** How many pieces to add in one frame. */
const PIECES_A_FRAME = 2

/** Plain text. Long text is truncated until the user expands it, and then rendered in pieces to keep the page responsive. */
export function LongText({
  text,
  limit = 2_000,
  className = '',
}: {
  text: string
  limit?: number
  className?: string
}) {
  const [isWhole, setIsWhole] = useState(false)
  const isCut = text.length > limit * 1.2
  if (isCut && isWhole)
    return <WholeText text={text} className={className} onLess={() => setIsWhole(false)} />
  return (
    <div className={`long-text ${className}`}>
      <span>{visibleLines(isCut ? text.slice(0, limit) : text)}</span>
      {isCut && (
        <>
          <span aria-hidden="true">… </span>
          <button type="button" className="long-text-more" onClick={() => setIsWhole(true)}>
            show all {formatLength(text.length)}
          </button>
        </>
      )}
    </div>
  )
}

function WholeText({ text, className, onLess }: { text: string; className: string; onLess: () => void }) {
  const pieces = useMemo(() => splitText(text, PIECE), [text])
  const [count, setCount] = useState(PIECES_A_FRAME)
  useEffect(() => {
    if (count >= pieces.length) return
    const frame = requestAnimationFrame(() => setCount(count + PIECES_A_FRAME))
    return () => cancelAnimationFrame(frame)
  }, [count, pieces])
  return (
    <div className={`long-text ${className}`}>
      {pieces.slice(0, count).map((piece, index) => (
        <div key={index} className="long-text-piece">
          {visibleLines(piece)}
        </div>
      ))}
      <button type="button" className="long-text-more" onClick={onLess}>
        show less
      </button>
    </div>
  )
}

/** "950 characters", "12 KB", "1.2 MB". */
export function formatLength(characters: number): string {
  if (characters < 1000) return `${characters} characters`
  if (characters < 1_000_000) return `${Math.round(characters / 1000)} KB`
  return `${(characters / 1_000_000).toFixed(1)} MB`
}

/** Splits text into pieces of at most `size` characters, at line ends if possible. */
export function splitText(text: string, size: number): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + size)
    if (end < text.length) {
      const lineEnd = text.lastIndexOf('\n', end)
      if (lineEnd > at + size / 2) end = lineEnd + 1
      // Never inside a surrogate pair.
      else if (/[\uD800-\uDBFF]/.test(text[end - 1]!)) end -= 1
    }
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}
