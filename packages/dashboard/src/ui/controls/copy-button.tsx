import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from './button.tsx'
import { copyText } from '../browser/copy-text.ts'

const SAID_FOR_MS = 1_600

/** Copies a text and says so. `of` names what is copied. */
export function CopyButton({ text, of }: { text: string; of: string }) {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), SAID_FOR_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <>
      <IconButton
        label={isCopied ? 'Copied' : `Copy ${of}`}
        onClick={() => void copyText(text).then(() => setIsCopied(true))}
      >
        {isCopied ? <Check size={14} aria-hidden="true" /> : <Copy size={14} aria-hidden="true" />}
      </IconButton>
      <span className="visually-hidden" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </>
  )
}
