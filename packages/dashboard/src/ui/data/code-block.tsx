import { CopyButton } from '../controls/copy-button.tsx'
import './code-block.css'

/** Code or a command, with a button that copies it. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div className="code-block">
      {/* Focusable, so that long lines can be scrolled with the keyboard. */}
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <CopyButton label={`Copy ${label}`} read={() => text} />
    </div>
  )
}
