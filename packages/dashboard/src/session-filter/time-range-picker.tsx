import { CalendarRange, X } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from '../ui/controls/button.tsx'
import { Popover } from '../ui/controls/menu.tsx'
import { Segments } from '../ui/controls/segments.tsx'
import { TextField } from '../ui/controls/fields.tsx'
import { describeRange, isoTime, presetOf, resolveRange, timePresets, type TimeRange } from './time-range.ts'
import './time-range-picker.css'

/** A choice of time ranges: presets and a custom range. */
export function TimeRangePicker({
  range,
  onChange,
}: {
  range: TimeRange
  onChange: (range: TimeRange) => void
}) {
  const preset = presetOf(range)
  return (
    <div className="time-range">
      {preset === undefined && (
        <span className="time-range-custom">
          {describeRange(resolveRange(range, Date.now()))}
          <IconButton label="Show all time" onClick={() => onChange({})}>
            <X size={14} aria-hidden="true" />
          </IconButton>
        </span>
      )}
      <Segments
        label="Time range"
        segments={timePresets}
        value={preset}
        onChange={(value) => onChange(value === 'all' ? {} : { from: value })}
      />
      <CustomRange range={range} onChange={onChange} />
    </div>
  )
}

function CustomRange({ range, onChange }: { range: TimeRange; onChange: (range: TimeRange) => void }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Popover
      label="Custom range"
      isOpen={isOpen}
      onOpenChange={setIsOpen}
      trigger={
        <Button aria-label="Custom range" title="Custom range">
          <CalendarRange size={15} aria-hidden="true" />
        </Button>
      }
    >
      <RangeForm
        range={range}
        onChange={(next) => {
          setIsOpen(false)
          onChange(next)
        }}
      />
    </Popover>
  )
}

function RangeForm({ range, onChange }: { range: TimeRange; onChange: (range: TimeRange) => void }) {
  const { fromMs, toMs } = resolveRange(range, Date.now())
  const [from, setFrom] = useState(fromMs === undefined ? '' : localText(fromMs))
  const [to, setTo] = useState(range.to === undefined ? '' : localText(toMs))
  const [fromTime, toTime] = [Date.parse(from), Date.parse(to)]
  const error = fromTime >= toTime ? 'The end must be after the start.' : undefined
  return (
    <form
      className="time-range-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (error !== undefined) return
        onChange({
          ...(Number.isNaN(fromTime) ? {} : { from: isoTime(fromTime) }),
          ...(Number.isNaN(toTime) ? {} : { to: isoTime(toTime) }),
        })
      }}
    >
      <TextField label="From" type="datetime-local" value={from} onChange={setFrom} />
      <TextField
        label="To"
        type="datetime-local"
        value={to}
        onChange={setTo}
        error={error}
        hint="Leave empty for now"
      />
      <Button type="submit" look="accent">
        Apply
      </Button>
    </form>
  )
}

/** The format of `datetime-local` inputs: local time, to the minute. */
function localText(timeMs: number): string {
  return isoTime(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000).slice(0, 16)
}
