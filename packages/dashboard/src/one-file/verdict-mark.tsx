import type { ReportVerdict } from '@playhead/model'
import { Check, CircleHelp, RotateCw, X, type LucideIcon } from 'lucide-react'

export const verdictWords: Record<ReportVerdict, string> = {
  fail: 'Failed',
  inconclusive: 'Inconclusive',
  flaky: 'Flaky',
  pass: 'Passed',
}

const icons: Record<ReportVerdict, LucideIcon> = {
  fail: X,
  inconclusive: CircleHelp,
  flaky: RotateCw,
  pass: Check,
}

export function VerdictMark({ verdict, size = 16 }: { verdict: ReportVerdict; size?: number }) {
  const Icon = icons[verdict]
  return (
    <Icon size={size} strokeWidth={2.6} aria-hidden="true" className={`verdict-icon verdict-${verdict}`} />
  )
}
