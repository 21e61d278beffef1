import {
  BellRing,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleX,
  Hourglass,
  RotateCcw,
  type LucideIcon,
} from 'lucide-react'
import { formatMonitorValue, visibleText, type MonitorStateName } from '@playhead/model'
import { useState } from 'react'
import {
  useChangeMonitor,
  useCreateMonitor,
  useDeleteMonitor,
  useMonitors,
  type WatchedMonitor,
} from '../../api/monitors.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/controls/dialog.tsx'
import { Age } from '../../ui/data/age.tsx'
import { CodeBlock } from '../../ui/data/code-block.tsx'
import { NotLoaded } from '../../ui/data/error-notice.tsx'
import { draftOf, newDraft, toChange } from './monitor-draft.ts'
import { MonitorForm } from './monitor-form.tsx'
import './monitors.css'

const EXAMPLE = `// playhead.monitors.ts
import { defineMonitors } from 'playhead'

export default defineMonitors([
  { name: 'Refund without identity', rule: { never: 'issue_refund', before: 'verify_identity' } },
  { name: 'Failures', measure: 'failure-rate', above: 0.05, over: '1h', minimum: 20 },
])`

/** What is watched, in which state it is, and a form for more. */
export function MonitorsSection() {
  const monitors = useMonitors()
  return (
    <>
      <p className="dim">
        Monitors watch sessions as they arrive, with the rules of the testing kit. Write them here, or in a
        file of your repository that <code>playhead monitors apply</code> applies.
      </p>
      {monitors.data === undefined ? (
        <NotLoaded query={monitors} lines={4} />
      ) : monitors.data.length === 0 ? (
        <>
          <p className="settings-note">
            Nothing is watched yet. Fill in the sentence below, or apply a file:
          </p>
          <CodeBlock label="code" text={EXAMPLE} />
        </>
      ) : (
        <ul className="monitor-list" aria-label="Monitors">
          {monitors.data.map((watched) => (
            <MonitorCard key={watched.monitor.id} watched={watched} />
          ))}
        </ul>
      )}
      <h2>New monitor</h2>
      <NewMonitorForm />
    </>
  )
}

function NewMonitorForm() {
  const creation = useCreateMonitor()
  const [created, setCreated] = useState(0)
  return (
    <MonitorForm
      key={created}
      initial={newDraft}
      action="Create monitor"
      isWorking={creation.isPending}
      error={creation.error}
      onSubmit={(monitor) => creation.mutate(monitor, { onSuccess: () => setCreated(created + 1) })}
    />
  )
}

const looks: Record<MonitorStateName, { label: string; Icon: LucideIcon }> = {
  normal: { label: 'Normal', Icon: CircleCheck },
  pending: { label: 'Pending', Icon: Hourglass },
  firing: { label: 'Firing', Icon: BellRing },
  recovering: { label: 'Recovering', Icon: RotateCcw },
  'no-data': { label: 'No data', Icon: CircleDashed },
  error: { label: 'Error', Icon: CircleX },
  paused: { label: 'Paused', Icon: CirclePause },
}

function MonitorCard({ watched }: { watched: WatchedMonitor }) {
  const { monitor, sentence, state, since, value, problem, examples } = watched
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const pause = useChangeMonitor()
  const { label, Icon } = looks[state]
  const name = visibleText(monitor.name)
  return (
    <li className="monitor-card">
      <div className="monitor-head">
        <span className={`monitor-state is-${state}`}>
          <Icon size={13} aria-hidden="true" />
          {label} <Age time={since} />
        </span>
        <b className="monitor-name">{name}</b>
        {value !== null && (
          <span className="monitor-value">{formatMonitorValue(monitor.condition, value)}</span>
        )}
        <span className="monitor-tools">
          <Button aria-label={`Edit ${name}`} onClick={() => setOpen('edit')}>
            Edit
          </Button>
          <Button
            disabled={pause.isPending}
            aria-label={`${monitor.isPaused ? 'Resume' : 'Pause'} ${name}`}
            onClick={() => pause.mutate({ id: monitor.id, change: { isPaused: !monitor.isPaused } })}
          >
            {monitor.isPaused ? 'Resume' : 'Pause'}
          </Button>
          <Button look="danger" aria-label={`Delete ${name}`} onClick={() => setOpen('delete')}>
            Delete
          </Button>
        </span>
      </div>
      <p className="dim">
        When {visibleText(sentence)}.{monitor.isFromFile && ' From a file.'}
        {monitor.destinations !== undefined &&
          ` Tells ${monitor.destinations.map(visibleText).join(', ') || 'nobody'}.`}
      </p>
      {problem !== undefined && (
        <p className="dialog-error" role="alert">
          The last evaluation failed: {visibleText(problem)}
        </p>
      )}
      {examples.length > 0 && state !== 'normal' && <Examples name={name} examples={examples} />}
      <EditDialog monitor={monitor} isOpen={open === 'edit'} onClose={() => setOpen(undefined)} />
      <DeleteDialog monitor={monitor} isOpen={open === 'delete'} onClose={() => setOpen(undefined)} />
    </li>
  )
}

type DialogProps = { monitor: WatchedMonitor['monitor']; isOpen: boolean; onClose: () => void }

function EditDialog({ monitor, isOpen, onClose }: DialogProps) {
  const change = useChangeMonitor()
  return (
    <Dialog
      title={`Edit “${visibleText(monitor.name)}”`}
      {...(monitor.isFromFile && {
        description: 'It is from a file. Whoever applies that file again replaces what you change here.',
      })}
      isWide
      isOpen={isOpen}
      onOpenChange={onClose}
    >
      <MonitorForm
        initial={draftOf(monitor)}
        action="Save"
        isWorking={change.isPending}
        error={change.error}
        onSubmit={(_, draft) =>
          change.mutate({ id: monitor.id, change: toChange(monitor, draft) ?? {} }, { onSuccess: onClose })
        }
      >
        <Button onClick={onClose}>Cancel</Button>
      </MonitorForm>
    </Dialog>
  )
}

function DeleteDialog({ monitor: { id, name, isFromFile }, isOpen, onClose }: DialogProps) {
  const removal = useDeleteMonitor()
  return (
    <ConfirmDialog
      title={`Delete “${visibleText(name)}”?`}
      description={
        isFromFile
          ? 'It comes back when the file that it is from is applied again.'
          : 'Nothing is watched by it any more.'
      }
      action="Delete"
      isOpen={isOpen}
      onOpenChange={onClose}
      isWorking={removal.isPending}
      error={removal.error}
      onConfirm={() => removal.mutate(id, { onSuccess: onClose })}
    />
  )
}

/** The sessions that show why, at the failing step. */
function Examples({ name, examples }: { name: string; examples: WatchedMonitor['examples'] }) {
  return (
    <ul className="monitor-examples" aria-label={`Sessions of ${name}`}>
      {examples.map(({ sessionId, stepId, message, url }) => (
        <li key={sessionId}>
          <a href={pathOf(url)}>{stepId === undefined ? 'Session' : 'Failing step'}</a>{' '}
          <span className="dim">{visibleText(firstLine(message))}</span>
        </li>
      ))}
    </ul>
  )
}

/** What follows a colon is not shown. */
function firstLine(message: string): string {
  return message.split('\n', 1)[0]!.replace(/:$/, '.')
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}
