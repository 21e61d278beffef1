import { Link } from '@tanstack/react-router'
import { testTitle, formatDuration, visibleText, type TestHistory, type Interval } from '@playhead/model'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { formatShortCost } from '../session-facts/figures.tsx'
import { testKey } from '../session-facts/test-name.ts'
import { Age } from '../ui/data/age.tsx'
import { Sparkline } from '../ui/charts/sparkline.tsx'
import { RunStrip } from './run-strip.tsx'
import { TestDetail } from './test-detail.tsx'
import type { TestsSearch } from './tests-search.ts'
import { formatShare } from '../ui/charts/share-bar.tsx'
import './test-row.css'

type TestRowProps = { test: TestHistory; isOpen: boolean; search: TestsSearch }

const STRIP = 24

/** A test: its pass rate, latest runs and trends; opens to show details. */
export function TestRow({ test, isOpen, search }: TestRowProps) {
  const Chevron = isOpen ? ChevronDown : ChevronRight
  const { test: _, run: __, ...closed } = search
  const toOpen = isOpen ? closed : { ...closed, test: testKey(test) }
  return (
    <>
      <tr className="test-row" data-open={isOpen}>
        <td className="test-name">
          <Link to="/tests" search={toOpen} aria-expanded={isOpen} resetScroll={false}>
            <Chevron size={14} aria-hidden="true" />
            <span>
              <strong>{visibleText(test.name)}</strong>
              <span className="test-where">
                {visibleText([test.suite, test.file].filter((part) => part !== undefined).join(' · '))}
              </span>
            </span>
          </Link>
          {test.isFlaky && (
            <span className="test-flaky" title="Passed and failed at the same commit with the same input">
              flaky
            </span>
          )}
          {test.variants > 0 && <span className="test-variants">{test.variants} inputs</span>}
        </td>
        <td className="test-rate">
          <PassRate passed={test.passed} decided={test.passed + test.failed} interval={test.passInterval} />
        </td>
        <td className="test-runs">
          <RunStrip runs={test.runs.slice(0, STRIP)} label={`Latest runs of ${testTitle(test)}`} />
        </td>
        <Trends test={test} />
        <td className="test-when">
          <Age time={test.lastRunAt} />
        </td>
      </tr>
      {isOpen && (
        <tr className="test-opened">
          <td colSpan={6}>
            <TestDetail test={test} search={search} />
          </td>
        </tr>
      )}
    </>
  )
}

function Trends({ test }: { test: TestHistory }) {
  const runs = test.runs.toReversed()
  const durations = runs.map(({ durationMs }) => durationMs)
  const costs = runs.map(({ cost }) => cost)
  const known = costs.filter((cost) => cost !== null)
  const average = known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0) / known.length
  return (
    <>
      <td className="test-trend">
        <span>{average === undefined ? 'No cost' : `${formatShortCost(average)} per run`}</span>
        {known.length > 1 && (
          <Sparkline values={costs} color="var(--kind-action)" label="Cost of the latest runs" />
        )}
      </td>
      <td className="test-trend">
        <span>{test.durationMs.p50 === null ? '–' : `${formatDuration(test.durationMs.p50)} p50`}</span>
        <Sparkline values={durations} color="var(--kind-llm)" label="Duration of the latest runs" />
      </td>
    </>
  )
}

type PassRateProps = { passed: number; decided: number; interval: Interval }

/** The pass rate with its confidence interval: few runs leave a wide one. */
function PassRate({ passed, decided, interval }: PassRateProps) {
  if (decided === 0) return <span className="dim">No result yet</span>
  const [low, high] = [Math.round(interval.low * 100), Math.round(interval.high * 100)]
  const rate = passed / decided
  return (
    <span
      className="pass-rate"
      title={`${passed} of ${decided} passed; with 95% confidence it passes ${low}% to ${high}% of the time`}
    >
      <span className="pass-numbers">
        <strong className={passed === decided ? 'is-good' : 'is-bad'}>{formatShare(rate)}</strong>
        <span className="dim">
          {passed}/{decided}
        </span>
      </span>
      <span className="pass-band" aria-hidden="true">
        <span style={{ left: `${interval.low * 100}%`, width: `${(interval.high - interval.low) * 100}%` }} />
        <i style={{ left: `${rate * 100}%` }} />
      </span>
      <span className="pass-interval">
        {low}–{high}%
      </span>
    </span>
  )
}
