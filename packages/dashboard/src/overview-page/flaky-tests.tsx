import { Link } from '@tanstack/react-router'
import { testTitle, formatCount, visibleText, type TestHistory, writeTerm } from '@playhead/model'
import { useTests } from '../api/tests.ts'
import { testKey } from '../session-facts/test-name.ts'
import { formatShare } from '../ui/charts/share-bar.tsx'
import type { TimeRange } from '../session-filter/time-range.ts'
import { OverviewPanel, OverviewTable } from './overview-panel.tsx'

const SHOWN = 8

/** Tests that both pass and fail without a change to the code. */
export function FlakyTests({ range }: { range: TimeRange }) {
  const query = useTests({ ...range })
  return (
    <OverviewPanel
      title="Flaky tests"
      note="passed and failed at the same commit with the same input"
      query={query}
      isEmpty={(tests) => !tests.some(({ isFlaky }) => isFlaky)}
      empty={query.data?.length === 0 ? 'No tests in this period.' : 'No flaky tests.'}
    >
      {(tests) => (
        <OverviewTable of="Test" narrow={['Passed']} wide="Runs">
          {tests
            .filter(({ isFlaky }) => isFlaky)
            .slice(0, SHOWN)
            .map((test) => (
              <FlakyLine key={testKey(test)} test={test} range={range} />
            ))}
        </OverviewTable>
      )}
    </OverviewPanel>
  )
}

function FlakyLine({ test, range }: { test: TestHistory; range: TimeRange }) {
  const term = writeTerm('test', testTitle(test))
  return (
    <tr>
      <td title={testTitle(test)}>
        <Link to="/tests" search={{ test: testKey(test) }}>
          {visibleText(testTitle(test))}
        </Link>
      </td>
      <td>{test.passRate === null ? '–' : formatShare(test.passRate)}</td>
      <td>
        <Link to="/sessions" search={{ ...range, q: `${term} status:fail` }} className="is-bad">
          {formatCount(test.failed)} failed
        </Link>{' '}
        of{' '}
        <Link to="/sessions" search={{ ...range, q: term }}>
          {formatCount(test.total)}
        </Link>
      </td>
    </tr>
  )
}
