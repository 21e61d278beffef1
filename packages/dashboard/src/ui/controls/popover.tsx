import { Popover as Radix } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import './menu.css'

/** A small window beside the button that opens it. */
export function Popover({
  trigger,
  label,
  align = 'end',
  isOpen,
  onOpenChange,
  children,
}: {
  trigger: ReactElement
  label: string
  align?: 'start' | 'end'
  isOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
  children: ReactNode
}) {
  return (
    <Radix.Root
      {...(isOpen !== undefined && { open: isOpen })}
      {...(onOpenChange !== undefined && { onOpenChange })}
    >
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          className="popover"
          align={align}
          sideOffset={6}
          collisionPadding={8}
          aria-label={label}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
