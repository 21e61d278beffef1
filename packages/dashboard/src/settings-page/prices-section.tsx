import { UNKNOWN_MODEL, type PriceOverride } from '@playhead/model'
import { Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useProjectId, useProjects, useUpdateProject } from '../api/projects.ts'
import { useStats } from '../api/stats.ts'
import { Button, IconButton } from '../ui/controls/button.tsx'
import { ConfirmDialog } from '../ui/controls/dialog.tsx'
import { NotLoaded } from '../ui/data/error-notice.tsx'
import { PriceDialog } from './price-dialog.tsx'
import { emptyDraft, toDraft, type PriceDraft } from './price-draft.ts'
import { Reprice } from './reprice.tsx'
import './prices-section.css'

/** Prices that the project sets itself, for models that the built-in table lacks or prices otherwise. */
export function PricesSection() {
  const projectId = useProjectId()
  const projects = useProjects()
  const project = projects.data?.find(({ id }) => id === projectId)
  if (project === undefined) return <NotLoaded query={projects} lines={5} />
  return <Prices projectId={projectId} overrides={project.priceOverrides} />
}

type Editing = { draft: PriceDraft; index: number | undefined }

function Prices({ projectId, overrides }: { projectId: string; overrides: readonly PriceOverride[] }) {
  const [editing, setEditing] = useState<Editing>()
  const [doomed, setDoomed] = useState<number>()
  const add = (model: string) => setEditing({ draft: { ...emptyDraft, model }, index: undefined })
  return (
    <>
      <p className="dim">
        Models of OpenAI, Anthropic, Google and others are priced from a built-in table, costs that were
        reported are taken as they are. What you set here comes first. New prices count for what arrives from
        now on; “Compute again” takes them to what is there.
      </p>
      <UnpricedModels onAdd={add} />
      {overrides.length === 0 ? (
        <p className="settings-said">No prices of your own yet.</p>
      ) : (
        <PriceTable
          overrides={overrides}
          onEdit={(index) => setEditing({ draft: toDraft(overrides[index]!), index })}
          onDelete={setDoomed}
        />
      )}
      <div className="price-tools">
        <Button onClick={() => add('')}>
          <Plus size={14} aria-hidden="true" />
          Add a price
        </Button>
      </div>
      <h2>Compute again</h2>
      <Reprice />
      {editing !== undefined && (
        <EditPrice {...{ projectId, overrides, editing }} onClose={() => setEditing(undefined)} />
      )}
      <DeletePrice {...{ projectId, overrides }} index={doomed} onClose={() => setDoomed(undefined)} />
    </>
  )
}

type OverridesProps = { projectId: string; overrides: readonly PriceOverride[]; onClose: () => void }

function EditPrice({ projectId, overrides, editing, onClose }: OverridesProps & { editing: Editing }) {
  const update = useUpdateProject(projectId)
  const { draft, index } = editing
  return (
    <PriceDialog
      start={draft}
      base={index === undefined ? undefined : overrides[index]}
      isWorking={update.isPending}
      error={update.error}
      onSave={(price) =>
        update.mutate(
          { priceOverrides: index === undefined ? [...overrides, price] : overrides.with(index, price) },
          { onSuccess: onClose },
        )
      }
      onClose={onClose}
    />
  )
}

function DeletePrice({
  projectId,
  overrides,
  index,
  onClose,
}: OverridesProps & { index: number | undefined }) {
  const update = useUpdateProject(projectId)
  return (
    <ConfirmDialog
      title={`Delete the price of ${index === undefined ? '' : overrides[index]?.model}?`}
      description="Costs that were computed with it stay until they are computed again."
      action="Delete"
      isOpen={index !== undefined}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      isWorking={update.isPending}
      error={update.error}
      onConfirm={() =>
        update.mutate({ priceOverrides: overrides.filter((_, at) => at !== index) }, { onSuccess: onClose })
      }
    />
  )
}

function UnpricedModels({ onAdd }: { onAdd: (model: string) => void }) {
  const { data } = useStats({})
  const named = (data?.unpricedModels ?? []).filter((model) => model !== UNKNOWN_MODEL)
  const hasNameless = named.length < (data?.unpricedModels.length ?? 0)
  if (data === undefined || data.unpricedModels.length === 0) return null
  return (
    <div className="unpriced" role="note">
      <p>These models were called and have no price; costs lack their calls:</p>
      <ul>
        {named.map((model) => (
          <li key={model}>
            <Button onClick={() => onAdd(model)} title={`Set a price for ${model}`}>
              <Plus size={13} aria-hidden="true" />
              <span>{model}</span>
            </Button>
          </li>
        ))}
      </ul>
      {hasNameless && <p className="dim">Some calls did not say their model; they can’t be priced.</p>}
    </div>
  )
}

/** At least cents: "$0.50", "$0.075". */
function showPrice(dollars: number): string {
  return dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })
}

type PriceTableProps = {
  overrides: readonly PriceOverride[]
  onEdit: (index: number) => void
  onDelete: (index: number) => void
}

function PriceTable({ overrides, onEdit, onDelete }: PriceTableProps) {
  const amount = (value: number | undefined) => (value === undefined ? '–' : `$${showPrice(value)}`)
  return (
    <table className="settings-table">
      <thead>
        <tr>
          <th>Model</th>
          <th className="extra">Provider</th>
          <th className="number">
            Input<span className="price-unit"> / million</span>
          </th>
          <th className="number">
            Output<span className="price-unit"> / million</span>
          </th>
          <th className="number extra">Cache read</th>
          <th className="extra">From</th>
          <th>
            <span className="visually-hidden">Change</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {overrides.map((price, index) => (
          <tr key={index}>
            <td>{price.model}</td>
            <td className="extra">{price.provider ?? 'any'}</td>
            <td className="number">{amount(price.inputPerMillion)}</td>
            <td className="number">{amount(price.outputPerMillion)}</td>
            <td className="number extra">{amount(price.cacheReadPerMillion)}</td>
            <td className="extra">{price.from ?? 'always'}</td>
            <td className="tools">
              <IconButton label={`Change the price of ${price.model}`} onClick={() => onEdit(index)}>
                <Pencil size={14} aria-hidden="true" />
              </IconButton>
              <IconButton label={`Delete the price of ${price.model}`} onClick={() => onDelete(index)}>
                <Trash2 size={14} aria-hidden="true" />
              </IconButton>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
