import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { copyText } from '../browser/copy-text.ts'
import { IconButton } from './button.tsx'

const CONFIRMED_FOR_MS = 1_600

/** Copies the text that `read` returns and confirms it. The text is only built when the button is clicked. */
export function CopyButton({ label, read }: { label: string; read: () => string }) {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), CONFIRMED_FOR_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const Icon = isCopied ? Check : Copy
  return (
    <>
      <IconButton
        label={isCopied ? 'Copied' : label}
        onClick={() => void copyText(read()).then(() => setIsCopied(true))}
      >
        <Icon size={13} aria-hidden="true" />
      </IconButton>
      <span className="visually-hidden" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </>
  )
}
