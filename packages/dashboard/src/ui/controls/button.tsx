import type { ButtonHTMLAttributes } from 'react'
import './button.css'

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: 'plain' | 'accent' | 'danger' | 'quiet'
}

export function Button({ look = 'plain', className = '', type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`button button-${look} ${className}`} {...rest} />
}

/** A button that shows only an icon; `label` is its tooltip and its name for screen readers. */
export function IconButton({
  label,
  className = '',
  type = 'button',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { label: string }) {
  return (
    <button type={type} className={`icon-button ${className}`} aria-label={label} title={label} {...rest} />
  )
}

/** A key of the keyboard. */
export function KeyCap({ children }: { children: string }) {
  return <kbd className="key-cap">{children}</kbd>
}
