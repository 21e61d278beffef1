import { useNavigate, useSearch } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import type { TestHistory } from '@playhead/model'
import { useTests } from '../api/tests.ts'
import { useFieldValues } from '../api/values.ts'
import { testKey } from '../session-facts/test-name.ts'
import { Button } from '../ui/controls/button.tsx'
import { NotLoaded } from '../ui/data/error-notice.tsx'
import { withoutEmpty } from '../ui/browser/search-params.ts'
import { SearchInput } from '../ui/controls/search-input.tsx'
import { SelectField } from '../ui/controls/fields.tsx'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import { TestRow } from './test-row.tsx'
import type { TestsSearch } from './tests-search.ts'
import { CodeBlock } from '../ui/data/code-block.tsx'
import './tests-page.css'

/** All tests that recorded sessions, with their pass rates and latest runs. */
export function TestsPage() {
  const search = useSearch({ from: '/tests' })
  const navigate = useNavigate({ from: '/tests' })
  usePageTitle('Tests')
  const tests = useTests({ branch: search.branch, contains: search.search })
  const isFiltered = search.branch !== undefined || search.search !== undefined
  const change = (to: Partial<Record<keyof TestsSearch, string>>) =>
    void navigate({ search: (before) => withoutEmpty<TestsSearch>({ ...before, ...to }), replace: true })
  return (
    <div className="tests-page">
      <header className="tests-head">
        <h1>Tests</h1>
        <Tools search={search} onChange={change} />
      </header>
      {tests.data === undefined ? (
        <NotLoaded query={tests} lines={10} />
      ) : tests.data.length > 0 ? (
        <TestTable tests={tests.data} search={search} />
      ) : isFiltered ? (
        <NothingMatches onClear={() => void navigate({ search: {} })} />
      ) : (
        <NoTests />
      )}
    </div>
  )
}

type ToolsProps = { search: TestsSearch; onChange: (to: Partial<Record<keyof TestsSearch, string>>) => void }

function Tools({ search, onChange }: ToolsProps) {
  const { data: branches = [] } = useFieldValues('branch', '', 100)
  const names = new Set([...branches.map(({ value }) => value), ...(search.branch ? [search.branch] : [])])
  return (
    <div className="tests-tools">
      <SearchInput
        label="Search tests"
        value={search.search ?? ''}
        onChange={(text) => onChange({ search: text })}
      />
      <SelectField
        label="Branch"
        value={search.branch ?? ''}
        onChange={(branch) => onChange({ branch })}
        options={[{ value: '', label: 'All' }, ...[...names].map((name) => ({ value: name, label: name }))]}
      />
    </div>
  )
}

function TestTable({ tests, search }: { tests: readonly TestHistory[]; search: TestsSearch }) {
  const isOpen = (test: TestHistory) => search.test === testKey(test)
  return (
    <table className="test-table">
      <thead>
        <tr>
          <th>Test</th>
          <th>Pass rate</th>
          <th className="test-runs">Latest runs</th>
          <th>Cost</th>
          <th>Duration</th>
          <th className="test-when">Last run</th>
        </tr>
      </thead>
      <tbody>
        {tests.map((test) => (
          <TestRow key={testKey(test)} test={test} isOpen={isOpen(test)} search={search} />
        ))}
      </tbody>
    </table>
  )
}

function NothingMatches({ onClear }: { onClear: () => void }) {
  return (
    <div className="tests-none" role="status">
      <SearchX size={22} aria-hidden="true" />
      <h2>No matching tests</h2>
      <Button onClick={onClear}>Show all tests</Button>
    </div>
  )
}

const EXAMPLE = `import { test, expect } from 'playhead/vitest'

test('answers a billing question from customer data', async ({ session }) => {
  await runSupportAgent('I was charged twice for my subscription')
  expect(session).toHaveCalled('fetch_customer_data')
  expect(session).toCostLessThan(0.01)
})`

function NoTests() {
  return (
    <div className="no-tests">
      <h2>Tests appear here when they run</h2>
      <p className="dim">
        Each test records a session with the test's name and result. This page then shows how often it passes,
        what it costs, and the replay of every run.
      </p>
      <CodeBlock label="test" text={EXAMPLE} />
      <p className="dim">
        With <code>test.agent</code> you test an intent with many phrasings, several times each; the test then
        opens as a table of inputs and attempts.
      </p>
    </div>
  )
}
