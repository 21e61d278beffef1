import { Bell, BellOff } from 'lucide-react'
import { visibleText } from '@playhead/model'
import { useState } from 'react'
import {
  useChangeDestination,
  useDeleteDestination,
  useTestDestination,
  type Delivery,
  type Destination,
  type SavedDestination,
} from '../../api/alerts.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/controls/dialog.tsx'
import { describeAttempt } from './delivery-log.tsx'
import { draftOf, kindNames, toChange } from './destination-draft.ts'
import { DestinationForm } from './destination-form.tsx'

type CardProps = {
  destination: Destination
  /** Why nothing would be sent to it, as the server said when it was saved. */
  warning: string | undefined
  onSaved: (saved: SavedDestination) => void
}

/** A destination with what one can do with it. */
export function DestinationCard({ destination, warning, onSaved }: CardProps) {
  const { id, kind, isEnabled, target, problem } = destination
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const change = useChangeDestination()
  const test = useTestDestination()
  const name = visibleText(destination.name)
  const close = () => setOpen(undefined)
  return (
    <li className="destination-card">
      <div className="destination-head">
        <OnOff isOn={isEnabled} />
        <b className="destination-name">{name}</b>
        <span className="destination-target dim">
          {kindNames[kind]} · {visibleText(target)}
        </span>
        <span className="destination-tools">
          <Button
            disabled={test.isPending}
            aria-label={`Send test to ${name}`}
            onClick={() => test.mutate(id)}
          >
            {test.isPending ? 'Sending…' : 'Send test'}
          </Button>
          <Button aria-label={`Edit ${name}`} onClick={() => setOpen('edit')}>
            Edit
          </Button>
          <Button
            disabled={change.isPending}
            aria-label={`Turn ${isEnabled ? 'off' : 'on'} ${name}`}
            onClick={() => change.mutate({ id, change: { isEnabled: !isEnabled } }, { onSuccess: onSaved })}
          >
            {isEnabled ? 'Turn off' : 'Turn on'}
          </Button>
          <Button look="danger" aria-label={`Delete ${name}`} onClick={() => setOpen('delete')}>
            Delete
          </Button>
        </span>
      </div>
      <Problem text={problem} />
      <Problem text={warning} />
      <Problem text={change.error?.message} />
      <TestResult delivery={test.data} error={test.error} />
      <EditDialog
        destination={destination}
        isOpen={open === 'edit'}
        onClose={close}
        onSaved={(saved) => {
          onSaved(saved)
          change.reset()
          test.reset()
          close()
        }}
      />
      <DeleteDialog destination={destination} isOpen={open === 'delete'} onClose={close} />
    </li>
  )
}

function OnOff({ isOn }: { isOn: boolean }) {
  const Icon = isOn ? Bell : BellOff
  return (
    <span className={`destination-state ${isOn ? 'is-on' : 'is-off'}`}>
      <Icon size={13} aria-hidden="true" />
      {isOn ? 'On' : 'Off'}
    </span>
  )
}

function Problem({ text }: { text: string | undefined }) {
  if (text === undefined) return null
  return (
    <p className="dialog-error" role="alert">
      {visibleText(text)}
    </p>
  )
}

type DialogProps = { destination: Destination; isOpen: boolean; onClose: () => void }

function EditDialog({ destination, isOpen, onClose, onSaved }: DialogProps & Pick<CardProps, 'onSaved'>) {
  const { id, name, secrets } = destination
  const change = useChangeDestination()
  return (
    <Dialog title={`Edit “${visibleText(name)}”`} isOpen={isOpen} onOpenChange={onClose}>
      <DestinationForm
        initial={draftOf(destination)}
        saved={secrets}
        action="Save"
        isWorking={change.isPending}
        error={change.error}
        onSubmit={(draft) => change.mutate({ id, change: toChange(draft) }, { onSuccess: onSaved })}
      >
        <Button onClick={onClose}>Cancel</Button>
      </DestinationForm>
    </Dialog>
  )
}

function DeleteDialog({ destination: { id, name }, isOpen, onClose }: DialogProps) {
  const removal = useDeleteDestination()
  return (
    <ConfirmDialog
      title={`Delete “${visibleText(name)}”?`}
      description="Messages that wait for it are not sent any more. Monitors that name it tell nobody instead."
      action="Delete"
      isOpen={isOpen}
      onOpenChange={onClose}
      isWorking={removal.isPending}
      error={removal.error}
      onConfirm={() => removal.mutate(id)}
    />
  )
}

function TestResult({ delivery, error }: { delivery: Delivery | undefined; error: Error | null }) {
  const attempt = delivery?.attempts.at(-1)
  const isGood = delivery?.state === 'delivered'
  // Always there, so that screen readers notice what appears in it.
  return (
    <p className={isGood ? 'destination-test is-good' : 'destination-test is-bad'} role="status">
      {error !== null && error.message}
      {error === null && attempt !== undefined && `Test: ${describeAttempt(attempt)}`}
    </p>
  )
}
