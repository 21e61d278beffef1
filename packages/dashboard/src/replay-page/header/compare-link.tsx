import { Link } from '@tanstack/react-router'
import { GitCompareArrows } from 'lucide-react'
import { testTitle, type SessionSummary } from '@playhead/model'
import { useSomeSessions } from '../../api/sessions.ts'

/** To the comparison with what went well: the last passing run of the test, else another phrasing that passed. */
export function CompareLink({ session }: { session: SessionSummary }) {
  const { test, endState, id, name } = session
  const isTest = test?.name !== undefined
  const identity = isTest
    ? {
        test: testTitle({ name: test.name!, ...(test.suite !== undefined && { suite: test.suite }) }),
        testFile: test.file,
      }
    : { name }
  const passed = useSomeSessions(
    { ...identity, status: 'success', limit: 100 },
    { enabled: isTest || endState === 'fail' },
  )
  const others = (passed.data ?? []).filter((other) => other.id !== id)
  const same = others.find((other) => other.test?.variant === test?.variant)
  const other = same ?? others[0]
  if (other === undefined) return null
  const what = isTest
    ? same === undefined
      ? 'a variant that passes'
      : 'the last passing run'
    : 'the last success'
  return (
    <Link
      to="/compare"
      search={{ a: other.id, b: id }}
      className="button button-plain"
      title={`Compare with ${what}`}
      aria-label={`Compare with ${what}`}
    >
      <GitCompareArrows size={14} aria-hidden="true" />
      <span className="header-tool-word">Compare</span>
    </Link>
  )
}
