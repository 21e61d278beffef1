import { Fragment, useMemo, type ReactNode } from 'react'
import type { Inline } from './parse-inline.ts'
import { parseMarkdown, type Block } from './parse-markdown.ts'
import { readableText } from './readable-text.ts'
import './markdown.css'

/** Markdown drawn as elements of our own: nothing in the text becomes HTML, and nothing it names is loaded. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(readableText(text)), [text])
  return <div className="markdown">{drawBlocks(blocks)}</div>
}

function drawBlocks(blocks: readonly Block[]): ReactNode {
  return blocks.map((block, index) => <Fragment key={index}>{drawBlock(block)}</Fragment>)
}

function drawBlock(block: Block): ReactNode {
  switch (block.type) {
    case 'heading':
      // Headings of content are no headings of the page.
      return (
        <p className={`markdown-heading markdown-heading-${Math.min(block.level, 4)}`}>
          {drawInlines(block.children)}
        </p>
      )
    case 'paragraph':
      return <p>{drawInlines(block.children)}</p>
    case 'code':
      return <pre data-language={block.language || undefined}>{block.text}</pre>
    case 'list':
      return drawList(block)
    case 'quote':
      return <blockquote>{drawBlocks(block.children)}</blockquote>
    case 'table':
      return drawTable(block)
    case 'rule':
      return <hr />
    default:
      return null
  }
}

function drawList({ start, items }: Extract<Block, { type: 'list' }>): ReactNode {
  const drawn = items.map((item, index) => <li key={index}>{drawBlocks(item)}</li>)
  return start === undefined ? <ul>{drawn}</ul> : <ol start={start}>{drawn}</ol>
}

function drawTable({ header, rows }: Extract<Block, { type: 'table' }>): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          {header.map((cell, index) => (
            <th key={index}>{drawInlines(cell)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, column) => (
              <td key={column}>{drawInlines(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function drawInlines(inlines: readonly Inline[]): ReactNode {
  return inlines.map((inline, index) => <Fragment key={index}>{drawInline(inline)}</Fragment>)
}

function drawInline(inline: Inline): ReactNode {
  switch (inline.type) {
    case 'text':
      return inline.text
    case 'code':
      return <code>{inline.text}</code>
    case 'strong':
      return <strong>{drawInlines(inline.children)}</strong>
    case 'emphasis':
      return <em>{drawInlines(inline.children)}</em>
    case 'strike':
      return <s>{drawInlines(inline.children)}</s>
    case 'link':
      return (
        <a href={inline.href} title={inline.href} target="_blank" rel="noopener noreferrer nofollow">
          {drawInlines(inline.children)}
        </a>
      )
    case 'break':
      return <br />
    default:
      return null
  }
}
