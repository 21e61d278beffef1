import './key-cap.css'

/** A key as it is printed on the keyboard. */
export function KeyCap({ children }: { children: string }) {
  return <kbd className="key-cap">{children}</kbd>
}
