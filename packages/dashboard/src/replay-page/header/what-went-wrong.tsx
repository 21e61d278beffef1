import { ChevronDown, ChevronRight, FlaskConical, Repeat } from 'lucide-react'
import { useState } from 'react'
import { countOf, oneLine, stepTitle, visibleText, type Finding, type Suspect } from '@playhead/model'
import { NARROW, useMediaQuery } from '../../ui/browser/use-media-query.ts'
import { useReplay } from '../playback/replay-context.ts'
import { splitSentence } from './split-sentence.ts'
import './what-went-wrong.css'

const MOST_EVIDENCE = 3
const EVIDENCE_WIDTH = 60

/** The suspects of a session that went wrong, each with links to its evidence. Nothing for a session that is fine. */
export function WhatWentWrong() {
  const { suspects, runFrom, makeTest } = useReplay()
  const isNarrow = useMediaQuery(NARROW)
  const [choice, setIsOpen] = useState<boolean>()
  const isOpen = choice ?? !isNarrow
  if (suspects.length === 0) return null
  if (isNarrow && !isOpen) return <FirstSuspect onOpen={() => setIsOpen(true)} />
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <section className="went-wrong" aria-label="What went wrong">
      <div className="went-wrong-tools">
        {runFrom !== undefined && (
          <button
            type="button"
            className="evidence"
            title="Run the session again from the first suspect, with and without a change"
            onClick={() => runFrom(suspects[0]!.stepId)}
          >
            <Repeat size={12} aria-hidden="true" />
            Verify
          </button>
        )}
        {makeTest !== undefined && (
          <button
            type="button"
            className="evidence"
            title="A test that runs your agent, answered from a cassette"
            onClick={makeTest}
          >
            <FlaskConical size={12} aria-hidden="true" />
            Make a test
          </button>
        )}
      </div>
      <h2>
        <button type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          <Chevron size={14} aria-hidden="true" />
          What went wrong
          <span className="dim">{countOf(suspects.length, 'suspect')}</span>
        </button>
      </h2>
      {isOpen && (
        <ol>
          {suspects.map((suspect, index) => (
            <SuspectRow key={suspect.stepId} suspect={suspect} rank={index + 1} />
          ))}
        </ol>
      )}
    </section>
  )
}

/** On a phone, until somebody opens it: there the steps need the room. */
function FirstSuspect({ onOpen }: { onOpen: () => void }) {
  const { suspects, goTo } = useReplay()
  const { stepId, sentence } = suspects[0]!
  return (
    <section className="went-wrong is-brief" aria-label="What went wrong">
      <button
        type="button"
        className="suspect-rank"
        aria-label="Suspect 1: go to its step"
        onClick={() => goTo(stepId)}
      >
        1
      </button>
      <button type="button" className="suspect-brief" aria-expanded={false} onClick={onOpen}>
        <span>{visibleText(sentence)}</span>
        <span className="dim">
          <span className="visually-hidden">What went wrong, {countOf(suspects.length, 'suspect')}</span>
          <ChevronDown size={16} aria-hidden="true" />
        </span>
      </button>
    </section>
  )
}

function SuspectRow({ suspect, rank }: { suspect: Suspect; rank: number }) {
  const { findings, timeline, goTo } = useReplay()
  const position = timeline.positionOf.get(suspect.stepId)
  const title = position === undefined ? '' : visibleText(stepTitle(timeline.steps[position]!))
  const isAgentNamed = suspect.agent !== null && suspect.agent !== title
  return (
    <li>
      <button
        type="button"
        className="suspect-rank"
        aria-label={`Suspect ${rank}: go to ${title === '' ? 'its step' : title}`}
        title={`Go to ${title}`}
        onClick={() => goTo(suspect.stepId)}
      >
        {rank}
      </button>
      <div>
        <p>
          <Sentence text={suspect.sentence} />
        </p>
        <p className="suspect-evidence">
          {position !== undefined && (
            <button type="button" className="evidence" onClick={() => goTo(suspect.stepId)}>
              <b>Step {position + 1}</b> {title}
              {isAgentNamed && <span className="dim"> by {visibleText(suspect.agent!)}</span>}
            </button>
          )}
          <Evidence finding={findings[suspect.findings[0]!]} />
        </p>
      </div>
    </li>
  )
}

/** The sentence, with each step that it names as a link. */
function Sentence({ text }: { text: string }) {
  const { timeline, goTo } = useReplay()
  return splitSentence(visibleText(text)).map((part, index) => {
    const step = part.number === undefined ? undefined : timeline.steps[part.number - 1]
    if (step === undefined) return part.text
    return (
      <button key={index} type="button" className="sentence-step" onClick={() => goTo(step.id)}>
        {part.text}
      </button>
    )
  })
}

function Evidence({ finding }: { finding: Finding | undefined }) {
  const { timeline, location, goTo } = useReplay()
  const seen = new Set<string>()
  const places = (finding?.evidence ?? []).filter(({ stepId, path }) => {
    const key = `${stepId} ${path}`
    const isNew = timeline.positionOf.has(stepId) && path !== '' && !seen.has(key)
    seen.add(key)
    return isNew
  })
  const show = (stepId: string, path: string) => {
    goTo(stepId)
    const { tab: _tab, t: _t, ...rest } = location.getSearch()
    location.replace({ ...rest, step: stepId, at: path, ...(path.startsWith('error') && { tab: 'error' }) })
  }
  return places.slice(0, MOST_EVIDENCE).map(({ stepId, path, text }) => (
    <button
      key={`${stepId} ${path}`}
      type="button"
      className="evidence"
      title={visibleText(text).slice(0, 1000)}
      onClick={() => show(stepId, path)}
    >
      <b>Step {timeline.positionOf.get(stepId)! + 1}</b> {visibleText(path)}{' '}
      <code>{oneLine(text, EVIDENCE_WIDTH)}</code>
    </button>
  ))
}
