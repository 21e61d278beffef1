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

/** The project's own prices, which override the built-in table. */
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
  const [deleting, setDeleting] = useState<number>()
  const add = (model: string) => setEditing({ draft: { ...emptyDraft, model }, index: undefined })
  return (
    <>
      <p className="dim">
        Models of OpenAI, Anthropic, Google and others have built-in prices, and reported costs are used as
        they are. Prices that you set here take precedence. They apply to new sessions; recalculate costs to
        apply them to stored ones.
      </p>
      <UnpricedModels onAdd={add} />
      {overrides.length === 0 ? (
        <p className="settings-note">No custom prices yet.</p>
      ) : (
        <PriceTable
          overrides={overrides}
          onEdit={(index) => setEditing({ draft: toDraft(overrides[index]!), index })}
          onDelete={setDeleting}
        />
      )}
      <div className="price-tools">
        <Button onClick={() => add('')}>
          <Plus size={14} aria-hidden="true" />
          Add price
        </Button>
      </div>
      <h2>Recalculate costs</h2>
      <Reprice />
      {editing !== undefined && (
        <EditPrice {...{ projectId, overrides, editing }} onClose={() => setEditing(undefined)} />
      )}
      <DeletePrice {...{ projectId, overrides }} index={deleting} onClose={() => setDeleting(undefined)} />
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
      title={`Delete price of ${index === undefined ? '' : overrides[index]?.model}?`}
      description="Costs that use it stay until you recalculate them."
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
  const hasUnnamed = named.length < (data?.unpricedModels.length ?? 0)
  if (data === undefined || data.unpricedModels.length === 0) return null
  return (
    <div className="unpriced" role="note">
      <p>These models have no price, so costs don't include their calls:</p>
      <ul>
        {named.map((model) => (
          <li key={model}>
            <Button onClick={() => onAdd(model)} title={`Set price for ${model}`}>
              <Plus size={13} aria-hidden="true" />
              <span>{model}</span>
            </Button>
          </li>
        ))}
      </ul>
      {hasUnnamed && <p className="dim">Some calls did not report a model and can’t be priced.</p>}
    </div>
  )
}

/** At least two decimals: "0.50", "0.075". */
function formatPrice(dollars: number): string {
  return dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })
}

type PriceTableProps = {
  overrides: readonly PriceOverride[]
  onEdit: (index: number) => void
  onDelete: (index: number) => void
}

function PriceTable({ overrides, onEdit, onDelete }: PriceTableProps) {
  const amount = (value: number | undefined) => (value === undefined ? '–' : `$${formatPrice(value)}`)
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
          <th className="extra">Valid from</th>
          <th>
            <span className="visually-hidden">Edit</span>
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
              <IconButton label={`Edit price of ${price.model}`} onClick={() => onEdit(index)}>
                <Pencil size={14} aria-hidden="true" />
              </IconButton>
              <IconButton label={`Delete price of ${price.model}`} onClick={() => onDelete(index)}>
                <Trash2 size={14} aria-hidden="true" />
              </IconButton>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
