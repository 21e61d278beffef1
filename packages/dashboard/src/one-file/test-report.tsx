import { useState } from 'react'
import { countOf, formatCost, reportVerdicts, type ReportVerdict, type TestReport } from '@playhead/model'
import { formatExactTime } from '../ui/data/age.tsx'
import { SearchInput } from '../ui/controls/search-input.tsx'
import { ReportTestRow, verdictLabels, VerdictMark } from './report-test.tsx'
import './test-report.css'

const SHOWN_AT_FIRST = 300

/** A test report: each test with its verdict, pass rate and links to its replays. */
export function ReportIndex({ report }: { report: TestReport }) {
  const [text, setText] = useState('')
  const [only, setOnly] = useState<ReportVerdict>()
  const [count, setCount] = useState(SHOWN_AT_FIRST)
  const { tests } = report
  const query = text.toLowerCase().trim()
  const found = tests.filter(
    (test) => (only === undefined || test.verdict === only) && (query === '' || matches(test, query)),
  )
  const groups = [...Map.groupBy(found.slice(0, count), ({ file }) => file ?? '')]
  return (
    <div className="report">
      <h1>{headline(report)}</h1>
      <p className="dim">{describeRun(report)}</p>
      <div className="report-tools">
        <SearchInput label="Search tests" value={text} onChange={setText} />
        <div className="report-filter" role="group" aria-label="Filter by verdict">
          <button type="button" aria-pressed={only === undefined} onClick={() => setOnly(undefined)}>
            All {tests.length}
          </button>
          {reportVerdicts.map((verdict) => {
            const number = tests.filter((test) => test.verdict === verdict).length
            if (number === 0) return null
            return (
              <button
                key={verdict}
                type="button"
                aria-pressed={only === verdict}
                onClick={() => setOnly(only === verdict ? undefined : verdict)}
              >
                <VerdictMark verdict={verdict} size={13} /> {verdictLabels[verdict]} {number}
              </button>
            )
          })}
        </div>
      </div>
      {groups.map(([file, ofFile]) => (
        <section key={file}>
          {file !== '' && <h2 className="mono">{file}</h2>}
          {ofFile.map((test) => (
            <ReportTestRow key={[file, test.suite, test.name].join('\n')} test={test} />
          ))}
        </section>
      ))}
      {found.length === 0 && <p className="dim">No tests match.</p>}
      {found.length > count && (
        <button type="button" className="long-text-more" onClick={() => setCount(count + 1_000)}>
          Show more ({found.length} in total)
        </button>
      )}
    </div>
  )
}

function matches({ file, suite, name, sessions }: TestReport['tests'][number], query: string): boolean {
  const texts = [file, suite, name, ...sessions.flatMap(({ variant, message }) => [variant, message])]
  return texts.some((text) => text?.toLowerCase().includes(query) === true)
}

function headline({ tests }: TestReport): string {
  const failed = tests.filter(({ verdict }) => verdict === 'fail').length
  return failed === 0 ? countOf(tests.length, 'test') : `${failed} of ${countOf(tests.length, 'test')} failed`
}

function describeRun({ tests, branch, commit, madeAt }: TestReport): string {
  const costs = tests.map(({ cost }) => cost).filter((cost) => cost !== null)
  const cost = costs.reduce((sum, one) => sum + one, 0)
  const parts = [
    countOf(
      tests.reduce((sum, { total }) => sum + total, 0),
      'session',
    ),
    costs.length > 0 && formatCost(cost),
    branch,
    commit?.slice(0, 8),
    formatExactTime(madeAt),
  ]
  return parts.filter(Boolean).join(' · ')
}
