import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePageTitle } from '../browser/use-page-title.ts'
import './page-problem.css'

/** Fills the page when there is nothing else to show on it. */
export function PageProblem({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="page-problem">
      <h1>{title}</h1>
      {children}
    </div>
  )
}

export function NoSuchPage() {
  usePageTitle('No such page')
  return (
    <PageProblem title="There is no such page">
      <p>
        The address may be mistyped. <Link to="/sessions">To the sessions</Link>
      </p>
    </PageProblem>
  )
}
