import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePageTitle } from '../browser/use-page-title.ts'
import './page-problem.css'

/** A message that takes the place of the whole page. */
export function PageProblem({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="page-problem">
      <h1>{title}</h1>
      {children}
    </div>
  )
}

export function NoSuchPage() {
  usePageTitle('Page not found')
  return (
    <PageProblem title="Page not found">
      <p>
        The address may be mistyped. <Link to="/sessions">Go to sessions</Link>
      </p>
    </PageProblem>
  )
}
