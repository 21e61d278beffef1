import { visibleLines } from '@playhead/model'
import { useEffect, useMemo, useState } from 'react'
import { formatLength, splitText } from './readable-text.ts'
import './long-text.css'

const PIECE = 40_000
/** Pieces that one frame can take. */
const PIECES_A_FRAME = 2

/** Text as it is; a long one is cut until somebody asks, and then comes piece by piece so that the page stays quick. */
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
