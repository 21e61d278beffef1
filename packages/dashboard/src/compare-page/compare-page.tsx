import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { serverSessionSource } from '../api/server-session-source.ts'
import { SessionSourceProvider } from '../api/session-source.ts'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { PageProblem } from '../ui/data/page-problem.tsx'
import { SkeletonLines } from '../ui/data/skeleton.tsx'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import { CompareView } from './compare-view.tsx'
import { useComparison } from './use-comparison.ts'
import './compare-page.css'

/** Two sessions side by side, opened at their first divergence. */
export function ComparePage() {
  const search = useSearch({ from: '/compare' })
  const navigate = useNavigate({ from: '/compare' })
  const { comparison, isWaiting, error, retry } = useComparison(search.a, search.b, search.live !== undefined)
  usePageTitle('Compare')
  if (search.a === undefined || search.b === undefined) return <NothingToCompare />
  if (comparison === undefined)
    return (
      <div className="compare-loading">
        {isWaiting && <p role="status">The run has started. Its first step is on its way…</p>}
        {error === null ? <SkeletonLines count={14} /> : <ErrorNotice error={error} onRetry={retry} />}
      </div>
    )
  return (
    <SessionSourceProvider value={serverSessionSource}>
      <CompareView
        key={`${search.a} ${search.b}`}
        comparison={comparison}
        search={search}
        onChange={(change) =>
          void navigate({
            search: (before) => ({ ...before, ...change }),
            replace: true,
            resetScroll: false,
          })
        }
      />
    </SessionSourceProvider>
  )
}

function NothingToCompare() {
  return (
    <PageProblem title="Select two sessions to compare">
      <p>
        Select them in <Link to="/sessions">the sessions list</Link> and click Compare.
      </p>
    </PageProblem>
  )
}
