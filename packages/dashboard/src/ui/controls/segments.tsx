import { RadioGroup } from 'radix-ui'
import './segments.css'

export type Segment<Value extends string> = { value: Value; label: string; title?: string }

/** A segmented control: one of a few options, side by side. */
export function Segments<Value extends string>({
  label,
  segments,
  value,
  onChange,
}: {
  label: string
  segments: readonly Segment<Value>[]
  value: Value | undefined
  onChange: (value: Value) => void
}) {
  return (
    <RadioGroup.Root
      className="segments"
      aria-label={label}
      orientation="horizontal"
      value={value ?? ''}
      onValueChange={(next) => onChange(next as Value)}
    >
      {segments.map((segment) => (
        <RadioGroup.Item
          key={segment.value}
          value={segment.value}
          className="segment"
          aria-label={segment.title ?? segment.label}
          title={segment.title}
        >
          {segment.label}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  )
}
