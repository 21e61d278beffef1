import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from './button.tsx'
import { copyText } from '../browser/copy-text.ts'

const SAID_FOR_MS = 1_600

/** Copies a text that is only written out when somebody asks for it, and says so. */
export function CopyAction({ label, read }: { label: string; read: () => string }) {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), SAID_FOR_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const Icon = isCopied ? Check : Copy
  return (
    <IconButton
      label={isCopied ? 'Copied' : label}
      onClick={() => void copyText(read()).then(() => setIsCopied(true))}
    >
      <Icon size={13} aria-hidden="true" />
    </IconButton>
  )
}
