import { useMemo } from 'react'
import type { Step } from '@playhead/model'
import { CopyAction } from '../../ui/controls/copy-action.tsx'
import { textOfValue } from '../../ui/data/json-path.ts'
import { LongText } from '../../ui/data/long-text.tsx'

/** The step as the API gives it. */
export function RawTab({ step }: { step: Step }) {
  const text = useMemo(() => textOfValue(step), [step])
  return (
    <div className="detail-section value-view">
      <div className="value-tools">
        <CopyAction label="Copy the step as JSON" read={() => text} />
      </div>
      <LongText text={text} limit={20_000} className="mono" />
    </div>
  )
}
