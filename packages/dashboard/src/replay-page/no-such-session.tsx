import { Link } from '@tanstack/react-router'
import { useProjectId } from '../api/projects.ts'
import '../ui/data/page-problem.css'

/** A link to a session that is not, or no longer, or in another project. */
export function NoSuchSession({ sessionId }: { sessionId: string }) {
  const project = useProjectId()
  return (
    <div className="page-problem">
      <h1>There is no such session</h1>
      <p role="alert">
        No session <code>{sessionId}</code> is in the project <b>{project}</b>. It may have been deleted, its
        retention may be over, or it is in another project.
      </p>
      <p>
        <Link to="/sessions">To the sessions</Link>
      </p>
    </div>
  )
}
