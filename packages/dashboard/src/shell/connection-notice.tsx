import { useQueryClient } from '@tanstack/react-query'
import { Unplug } from 'lucide-react'
import { useEffect } from 'react'
import { useIsServerLost, whenServerIsBack } from '../api/connection.ts'
import './connection-notice.css'

/** Says that the server does not answer, and brings the page up to date when it does again. */
export function ConnectionNotice() {
  const client = useQueryClient()
  const isLost = useIsServerLost()
  useEffect(() => whenServerIsBack(() => void client.invalidateQueries()), [client])
  return (
    <div role="status">
      {isLost && (
        <p className="connection-notice">
          <Unplug size={14} aria-hidden="true" />
          The server does not answer. What you see may be old; the page goes on as soon as it is back.
        </p>
      )}
    </div>
  )
}
