import { Share2 } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../ui/controls/button.tsx'

const ShareDialog = lazy(async () => ({ default: (await import('./share-dialog.tsx')).ShareDialog }))

/** Opens the dialog that makes a link for people without a login. */
export function ShareButton({ sessionId }: { sessionId: string }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button
        aria-label="Share"
        title="Show this session to people without a login"
        onClick={() => setIsOpen(true)}
      >
        <Share2 size={14} aria-hidden="true" />
        <span className="header-tool-word">Share</span>
      </Button>
      {isOpen && (
        <Suspense>
          <ShareDialog sessionId={sessionId} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
