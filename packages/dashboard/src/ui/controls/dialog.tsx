import { Dialog as Radix } from 'radix-ui'
import { X } from 'lucide-react'
import { useRef, type ReactNode } from 'react'
import { Button, IconButton } from './button.tsx'
import './dialog.css'

type DialogProps = {
  title: string
  description?: ReactNode
  isWide?: boolean
  isOpen: boolean
  onOpenChange: (isOpen: boolean) => void
  children?: ReactNode
}

/** A modal dialog. */
export function Dialog({ title, description, isWide = false, isOpen, onOpenChange, children }: DialogProps) {
  const openedFrom = useRef<Element>(null)
  return (
    <Radix.Root open={isOpen} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="dialog-shade" />
        <Radix.Content
          className={isWide ? 'dialog is-wide' : 'dialog'}
          {...(description === undefined && { 'aria-describedby': undefined })}
          // Radix knows only triggers of its own.
          onOpenAutoFocus={() => (openedFrom.current = document.activeElement)}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            if (openedFrom.current instanceof HTMLElement) openedFrom.current.focus()
          }}
        >
          <header className="dialog-head">
            <Radix.Title className="dialog-title">{title}</Radix.Title>
            <Radix.Close asChild>
              <IconButton label="Close">
                <X size={16} aria-hidden="true" />
              </IconButton>
            </Radix.Close>
          </header>
          {description !== undefined && (
            <Radix.Description asChild>
              <div className="dialog-description">{description}</div>
            </Radix.Description>
          )}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

type ConfirmDialogProps = Omit<DialogProps, 'children'> & {
  /** The label of the button that confirms. */
  action: string
  isWorking?: boolean
  error?: Error | null
  onConfirm: () => void
}

/** Asks for confirmation before something that can't be undone. */
export function ConfirmDialog({
  action,
  isWorking = false,
  error = null,
  onConfirm,
  ...dialog
}: ConfirmDialogProps) {
  return (
    <Dialog {...dialog}>
      {error !== null && (
        <p className="dialog-error" role="alert">
          {error.message}
        </p>
      )}
      <footer className="dialog-foot">
        <Button onClick={() => dialog.onOpenChange(false)}>Cancel</Button>
        <Button look="danger" onClick={onConfirm} disabled={isWorking}>
          {isWorking ? 'Working…' : action}
        </Button>
      </footer>
    </Dialog>
  )
}
