import { useState } from 'react'
import { countOf, visibleText, type RetrievedDocument, type Step } from '@playhead/model'
import { JsonTree } from '../../ui/data/json-tree.tsx'
import { LongText } from '../../ui/data/long-text.tsx'
import { DetailSection, OutputSection, StepErrorSection } from './sections.tsx'
import { ValueView } from '../../ui/data/value-view.tsx'
import './retrieved-documents.css'

const SHOWN_AT_FIRST = 20

/** The query and the documents it found. */
export function RetrievedDocuments({ step }: { step: Step }) {
  const [count, setCount] = useState(SHOWN_AT_FIRST)
  const { query, documents } = step.retrieval ?? {}
  const best = Math.max(...(documents ?? []).map(({ score }) => score ?? 0), 0)
  return (
    <>
      <DetailSection title="Query">
        {query === undefined ? (
          <ValueView value={step.input ?? null} />
        ) : (
          <LongText text={query} className="boxed" />
        )}
      </DetailSection>
      <StepErrorSection step={step} />
      {documents === undefined ? (
        <OutputSection step={step} output={step.output} />
      ) : (
        <DetailSection title={countOf(documents.length, 'document')}>
          <ol className="documents">
            {documents.slice(0, count).map((document, index) => (
              <DocumentView key={index} document={document} best={best} />
            ))}
          </ol>
          {documents.length > count && (
            <button type="button" className="long-text-more" onClick={() => setCount(count + 100)}>
              Show more ({documents.length} in total)
            </button>
          )}
        </DetailSection>
      )}
    </>
  )
}

function DocumentView({ document, best }: { document: RetrievedDocument; best: number }) {
  const { id, score, content, metadata } = document
  return (
    <li className="document">
      <div className="document-head">
        {id !== undefined && <span className="mono">{visibleText(id)}</span>}
        {score !== undefined && (
          <span className="document-score" title="Score">
            <i style={{ width: `${best > 0 ? Math.max(0, (score / best) * 100) : 0}%` }} />
            {Number(score.toPrecision(3))}
          </span>
        )}
      </div>
      {content !== undefined && <LongText text={content} limit={500} />}
      {metadata !== undefined && metadata !== null && <JsonTree value={metadata} />}
    </li>
  )
}
