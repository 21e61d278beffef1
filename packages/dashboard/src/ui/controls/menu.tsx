import { DropdownMenu, Popover as Radix } from 'radix-ui'
import { Check } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import './menu.css'

/** A dropdown menu. */
export function Menu({
  trigger,
  label,
  align = 'end',
  children,
}: {
  trigger: ReactElement
  label: string
  align?: 'start' | 'end'
  children: ReactNode
}) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className="menu"
          align={align}
          sideOffset={6}
          collisionPadding={8}
          aria-label={label}
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

type MenuItemProps = {
  onSelect: () => void
  icon?: ReactNode
  isChecked?: boolean
  isDanger?: boolean
  hint?: ReactNode
  children: ReactNode
}

export function MenuItem({ onSelect, icon, isChecked, isDanger = false, hint, children }: MenuItemProps) {
  return (
    <DropdownMenu.Item className={`menu-item${isDanger ? ' is-danger' : ''}`} onSelect={onSelect}>
      {isChecked !== undefined && (
        <span className="menu-check">{isChecked && <Check size={14} aria-label="selected" />}</span>
      )}
      {icon}
      <span className="menu-text">{children}</span>
      {hint !== undefined && <span className="menu-hint">{hint}</span>}
    </DropdownMenu.Item>
  )
}

export function MenuHeading({ children }: { children: ReactNode }) {
  return <DropdownMenu.Label className="menu-heading">{children}</DropdownMenu.Label>
}

export function MenuLine() {
  return <DropdownMenu.Separator className="menu-line" />
}

/** A popover next to the button that opens it. */
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
