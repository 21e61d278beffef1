import { formatAge } from '@playhead/model'
import { useNow } from '../browser/use-now.ts'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export function formatExactTime(time: string | number): string {
  return exact.format(new Date(time))
}

/** How long ago something happened, with the exact time as the tooltip. */
export function Age({ time }: { time: string }) {
  const now = useNow()
  return (
    <time dateTime={time} title={formatExactTime(time)}>
      {formatAge(time, now)}
    </time>
  )
}
