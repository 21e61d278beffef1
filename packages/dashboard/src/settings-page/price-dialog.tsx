import type { PriceOverride } from '@playhead/model'
import { useState } from 'react'
import { Button } from '../ui/controls/button.tsx'
import { Dialog } from '../ui/controls/dialog.tsx'
import { TextField } from '../ui/controls/fields.tsx'
import { checkDraft, priceFields, toPrice, type PriceDraft } from './price-draft.ts'

type PriceDialogProps = {
  start: PriceDraft
  /** The price being edited; undefined for a new one. */
  base: PriceOverride | undefined
  isWorking: boolean
  error: Error | null
  onSave: (price: PriceOverride) => void
  onClose: () => void
}

/** Edits the price of a model. Errors appear after the first attempt to save. */
export function PriceDialog({ start, base, isWorking, error, onSave, onClose }: PriceDialogProps) {
  const [draft, setDraft] = useState(start)
  const [wasTried, setWasTried] = useState(false)
  const problems = checkDraft(draft)
  const field = (name: keyof PriceDraft) => ({
    value: draft[name],
    onChange: (value: string) => setDraft((before) => ({ ...before, [name]: value })),
    error: wasTried ? problems[name] : undefined,
  })
  return (
    <Dialog
      title={base === undefined ? 'Add price' : `Price of ${base.model}`}
      description="US dollars per million tokens."
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <form
        className="price-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setWasTried(true)
          if (Object.keys(problems).length === 0) onSave(toPrice(draft, base))
        }}
      >
        <TextField
          className="price-model"
          label="Model"
          {...field('model')}
          hint="The model name as reported; a trailing * matches any suffix."
        />
        {priceFields.map(({ field: name, label, isRequired }) => (
          <TextField
            key={name}
            label={isRequired ? label : `${label} (optional)`}
            inputMode="decimal"
            {...field(name)}
          />
        ))}
        <TextField label="Provider (optional)" {...field('provider')} />
        <TextField label="Valid from (optional)" type="date" {...field('from')} />
        {error !== null && (
          <p className="dialog-error" role="alert">
            {error.message}
          </p>
        )}
        <footer className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="accent" disabled={isWorking}>
            {isWorking ? 'Saving…' : 'Save'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
