import MarkdownIt, { type Token } from 'markdown-it'
import { createElement, Fragment, useMemo, type ReactNode } from 'react'
import { visibleLines } from '@playhead/model'
import './markdown.css'

/** Text that nests deeper is shown as plain text: the parser drops deeper blocks, and deep elements freeze the browser. */
const DEEPEST = 30

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: DEEPEST })
  // Prompts are often indented as a whole, and `[INFO]: ready` is a log line, not a link definition to hide.
  .disable(['code', 'reference'])
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
parser.validateLink = isSafeAddress

/** Links may lead to the web and to mail; any other address stays text. */
function isSafeAddress(address: string): boolean {
  return /^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(address.trim())
}

/** Renders Markdown as React elements: HTML stays text, images become links, and nothing is loaded. */
export function Markdown({ text }: { text: string }) {
  const drawn = useMemo(() => drawText(visibleLines(text)), [text])
  return <div className="markdown">{drawn}</div>
}

function drawText(text: string): ReactNode {
  const tokens = parser.parse(text, {})
  return isTooDeep(tokens) ? <p className="markdown-plain">{text}</p> : drawAll(nest(tokens))
}

function isTooDeep(tokens: readonly Token[]): boolean {
  return tokens.some(({ level }) => level >= DEEPEST - 1)
}

type Node = { token: Token; children: Node[] }

/** Turns the parser's opening and closing tokens into a tree. */
function nest(tokens: readonly Token[]): Node[] {
  const root: Node[] = []
  const open = [root]
  for (const token of tokens) {
    if (token.nesting === -1) {
      open.pop()
      continue
    }
    const node = { token, children: nest(token.children ?? []) }
    open.at(-1)!.push(node)
    if (token.nesting === 1) open.push(node.children)
  }
  return root
}

function drawAll(nodes: readonly Node[]): ReactNode {
  return nodes.map((node, index) => <Fragment key={index}>{draw(node)}</Fragment>)
}

function draw({ token, children }: Node): ReactNode {
  switch (token.type) {
    case 'text':
      return token.content
    case 'inline':
      return isTooDeep(token.children ?? []) ? token.content : drawAll(children)
    case 'heading_open':
      // A heading inside a message is not a heading of the page.
      return (
        <p className={`markdown-heading markdown-heading-${Math.min(Number(token.tag.slice(1)), 4)}`}>
          {drawAll(children)}
        </p>
      )
    case 'fence':
      return (
        <pre data-language={token.info.trim().split(/\s/)[0] || undefined}>{withoutEnd(token.content)}</pre>
      )
    case 'code_inline':
      return <code>{token.content}</code>
    case 'softbreak':
    case 'hardbreak':
      return <br />
    case 'hr':
      return <hr />
    case 'link_open':
      return drawLink(String(token.attrGet('href')), drawAll(children))
    case 'image':
      return drawLink(String(token.attrGet('src')), token.content || String(token.attrGet('src')))
    case 'ordered_list_open':
      return <ol start={Number(token.attrGet('start') ?? 1)}>{drawAll(children)}</ol>
    default:
      return plainTags.has(token.tag) ? createElement(token.tag, null, drawAll(children)) : token.content
  }
}

/** Elements rendered without attributes. */
const plainTags = new Set('p ul li blockquote table thead tbody tr th td strong em s'.split(' '))

function drawLink(address: string, children: ReactNode): ReactNode {
  return (
    <a href={address} title={address} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  )
}

function withoutEnd(code: string): string {
  return code.replace(/\n$/, '')
}
