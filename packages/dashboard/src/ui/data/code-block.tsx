import { CopyButton } from '../controls/copy-button.tsx'
import './code-block.css'

/** Something to type or paste elsewhere, with a button that copies it. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div className="code-block">
      {/* Long lines scroll; a keyboard must be able to do that too. */}
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <CopyButton label={`Copy ${label}`} read={() => text} />
    </div>
  )
}
