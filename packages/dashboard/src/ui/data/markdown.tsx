import { visibleLines } from '@playhead/model'
import { lazy, Suspense } from 'react'
import './markdown.css'

const MarkdownTree = lazy(async () => ({ default: (await import('./markdown-tree.tsx')).MarkdownTree }))

/** Text rendered as Markdown; plain text until the parser has loaded. */
export function Markdown({ text }: { text: string }) {
  const readable = visibleLines(text)
  return (
    <div className="markdown">
      <Suspense fallback={<p className="markdown-plain">{readable}</p>}>
        <MarkdownTree text={readable} />
      </Suspense>
    </div>
  )
}
