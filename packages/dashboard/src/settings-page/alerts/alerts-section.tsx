import { useState } from 'react'
import { useCreateDestination, useDestinations, type SavedDestination } from '../../api/alerts.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/controls/dialog.tsx'
import { CodeBlock } from '../../ui/data/code-block.tsx'
import { NotLoaded } from '../../ui/data/error-notice.tsx'
import { DeliveryLog } from './delivery-log.tsx'
import { DestinationCard } from './destination-card.tsx'
import { newDraft, toDestination } from './destination-draft.ts'
import { DestinationForm } from './destination-form.tsx'
import './alerts.css'

/** Where alerts go, whether they arrived, and a form for more destinations. */
export function AlertsSection() {
  const destinations = useDestinations()
  const [warnings, setWarnings] = useState<Readonly<Record<string, string | undefined>>>({})
  const onSaved = ({ id, warning }: SavedDestination) =>
    setWarnings((before) => ({ ...before, [id]: warning }))
  return (
    <>
      <p className="dim">
        When a monitor fires or is resolved, its destinations are told: what, how bad, since when, with links
        to three sessions at the failing step.
      </p>
      {destinations.data === undefined ? (
        <NotLoaded query={destinations} lines={3} />
      ) : destinations.data.length === 0 ? (
        <p className="settings-note">
          Nobody is told yet. Save a destination below; every monitor tells it, unless the monitor names
          others.
        </p>
      ) : (
        <ul className="destination-list" aria-label="Destinations">
          {destinations.data.map((destination) => (
            <DestinationCard
              key={destination.id}
              destination={destination}
              warning={warnings[destination.id]}
              onSaved={onSaved}
            />
          ))}
        </ul>
      )}
      <h2>New destination</h2>
      <NewDestination onSaved={onSaved} />
      <h2 id="deliveries">Messages of the last 30 days</h2>
      <DeliveryLog />
    </>
  )
}

function NewDestination({ onSaved }: { onSaved: (saved: SavedDestination) => void }) {
  const creation = useCreateDestination()
  const [formNumber, setFormNumber] = useState(0)
  return (
    <>
      <DestinationForm
        key={formNumber}
        initial={newDraft}
        action="Save destination"
        isWorking={creation.isPending}
        error={creation.error}
        onSubmit={(draft) =>
          creation.mutate(toDestination(draft), {
            onSuccess: (saved) => {
              onSaved(saved)
              setFormNumber((number) => number + 1)
            },
          })
        }
      />
      <SigningSecret secret={creation.data?.secret} onClose={() => creation.reset()} />
    </>
  )
}

function SigningSecret({ secret, onClose }: { secret: string | undefined; onClose: () => void }) {
  return (
    <Dialog
      title="The signing secret"
      description="Your receiver verifies messages with it, as standardwebhooks.com describes. Copy it now: it can't be shown again."
      isOpen={secret !== undefined}
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <div className="destination-secret">
        <CodeBlock label="secret" text={secret ?? ''} />
        <Button look="accent" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
