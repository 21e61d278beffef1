import { Link } from '@tanstack/react-router'
import { GitCompareArrows } from 'lucide-react'
import { testTitle, type SessionSummary } from '@playhead/model'
import { useSomeSessions } from '../../api/sessions.ts'

/** Links to a comparison with a success: the last passing run of the test, a passing variant, or the last successful session. */
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
    { ...identity, status: 'success', reruns: 'exclude', limit: 100 },
    { enabled: isTest || endState === 'fail' },
  )
  const others = (passed.data ?? []).filter((other) => other.id !== id)
  const same = others.find((other) => other.test?.variant === test?.variant)
  const other = same ?? others[0]
  if (other === undefined) return null
  const what = isTest
    ? same === undefined
      ? 'a passing variant'
      : 'the last passing run'
    : 'the last successful session'
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
