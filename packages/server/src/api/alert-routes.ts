import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Gate } from '../access/caller.ts'
import { projectOf, recordAudit } from '../access/request-project.ts'
import type { AddressGuard } from '../alerts/address-guard.ts'
import type { AlertWorker } from '../alerts/alert-worker.ts'
import {
  hostOf,
  newSigningSecret,
  toDestinationResponse,
  type Destination,
  type DestinationStore,
} from '../alerts/destination-store.ts'
import { toDeliveryResponse, type Outbox } from '../alerts/outbox.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Store } from '../store/connect.ts'
import { acceptsBody, jsonRoute, projectParameter } from './route-parts.ts'
import { newDestinationSchema } from './schemas/alerts.ts'

const query = z.object(projectParameter)
const params = z.object({ id: z.string() })

const listRoute = createRoute({
  ...jsonRoute('GET /api/destinations', 'The destinations, by name, without their secrets'),
  summary: 'Where alerts go',
  request: { query },
})

const createDestinationRoute = createRoute({
  ...jsonRoute('POST /api/destinations', 'The destination', 201),
  summary: 'Save a destination. The server connects to saved destinations only',
  request: { query, ...acceptsBody('POST /api/destinations') },
})

const changeRoute = createRoute({
  ...jsonRoute('PATCH /api/destinations/{id}', 'The destination'),
  summary: 'Change or turn off a destination. What the body does not mention stays',
  request: { params, query, ...acceptsBody('PATCH /api/destinations/{id}') },
})

const deleteRoute = createRoute({
  ...jsonRoute('DELETE /api/destinations/{id}', 'Its id'),
  summary: 'Delete a destination, and messages that wait for it',
  request: { params, query },
})

const testRoute = createRoute({
  ...jsonRoute('POST /api/destinations/{id}/test', 'The message and how it went'),
  summary: 'Send a test message now, once',
  request: { params, query },
})

const deliveriesRoute = createRoute({
  ...jsonRoute('GET /api/deliveries', 'The messages, newest first'),
  summary: 'The messages of the last 30 days, with every attempt to deliver them',
  request: {
    query: z.object({
      ...projectParameter,
      destination: z.string().max(63).optional().describe('only those to this destination'),
      limit: z.coerce.number().int().min(1).max(500).default(50),
      before: z.iso.datetime().optional().describe('only those created before: `createdAt` of the last one'),
    }),
  },
})

export type AlertServices = {
  gate: Gate
  store: Store
  destinations: DestinationStore
  outbox: Outbox
  alertWorker: AlertWorker
  addressGuard: AddressGuard
}

export function addAlertRoutes(app: OpenAPIHono, services: AlertServices): void {
  addSendingRoutes(app, services)
  addChangeRoute(app, services)
  const { gate, destinations, addressGuard: guard } = services
  const follow = () => followOthers(services)
  app.openapi(listRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    await follow()
    const saved = destinations.list(project).map((one) => toDestinationResponse(one, guard))
    return context.json({ destinations: saved }, 200)
  })
  app.openapi(createDestinationRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    const { id: given, ...definition } = context.req.valid('json')
    await follow()
    const id = given ?? freeId(definition.name, destinations.list(project))
    if (destinations.get(project, id) !== undefined)
      throw new KnownError(
        'CONFLICT',
        `There is a destination ${id} already. Change it, or choose another id.`,
      )
    const secret =
      definition.kind === 'webhook' && definition.secret === undefined ? newSigningSecret() : undefined
    const destination: Destination = {
      project,
      id,
      definition:
        definition.kind === 'webhook' ? { ...definition, secret: definition.secret ?? secret } : definition,
    }
    const warning = await checkTarget(destination, guard)
    await destinations.save(destination)
    const { kind, name } = definition
    const detail = `${kind}: ${name}`
    await recordAudit(context, gate, { action: 'destination.created', project, subject: id, detail })
    return context.json(
      { ...toDestinationResponse(destination, guard), ...warning, ...(secret !== undefined && { secret }) },
      201,
    )
  })
  app.openapi(deleteRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    await follow()
    const { id, definition } = destinations.find(project, context.req.valid('param').id)
    await destinations.remove(project, id)
    const detail = definition.name
    await recordAudit(context, gate, { action: 'destination.deleted', project, subject: id, detail })
    return context.json({ deleted: id }, 200)
  })
}

function addChangeRoute(app: OpenAPIHono, services: AlertServices): void {
  const { gate, destinations, addressGuard: guard } = services
  app.openapi(changeRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    await followOthers(services)
    const before = destinations.find(project, context.req.valid('param').id)
    const changed = changeDestination(before, context.req.valid('json'))
    const [was, is] = [before.definition.isEnabled, changed.definition.isEnabled]
    // Whatever else is changed: one that can't be reached can still be renamed, and turned off.
    const isNews = hostOf(before.definition) !== hostOf(changed.definition) || (is && !was)
    const warning = isNews ? await checkTarget(changed, guard) : {}
    await destinations.save(changed)
    const detail = was === is ? 'changed' : is ? 'turned on' : 'turned off'
    await recordAudit(context, gate, { action: 'destination.changed', project, subject: before.id, detail })
    return context.json({ ...toDestinationResponse(changed, guard), ...warning }, 200)
  })
}

/** Refuses an address that nothing will ever be sent to. Warns about a name that leads to one now: that may change. */
async function checkTarget({ definition }: Destination, guard: AddressGuard): Promise<{ warning?: string }> {
  const host = hostOf(definition)
  const refusal = guard.refusalOf(host)
  if (refusal !== undefined) throw new KnownError('ADDRESS_NOT_ALLOWED', refusal)
  const warning = await guard.doubtAbout(host)
  return warning === undefined ? {} : { warning }
}

/** On a shared store another server may have changed them. */
async function followOthers({ store, destinations }: AlertServices): Promise<void> {
  if (store.engine === undefined) await destinations.reload()
}

function addSendingRoutes(app: OpenAPIHono, services: AlertServices): void {
  const { gate, destinations, outbox, alertWorker } = services
  app.openapi(testRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    await followOthers(services)
    const destination = destinations.find(project, context.req.valid('param').id)
    const delivery = await alertWorker.test(destination, Date.now())
    const detail = `test: ${delivery.state}`
    await recordAudit(context, gate, {
      action: 'destination.tested',
      project,
      subject: destination.id,
      detail,
    })
    return context.json(toDeliveryResponse(delivery), 200)
  })
  app.openapi(deliveriesRoute, async (context) => {
    // What a receiver answered may be in them.
    const project = projectOf(context, 'admin', gate)
    const { destination, limit, before } = context.req.valid('query')
    const filter = { destination, limit, before: before === undefined ? undefined : Date.parse(before) }
    const deliveries = await outbox.list(project, filter)
    return context.json({ deliveries: deliveries.map(toDeliveryResponse) }, 200)
  })
}

/** Turning a destination on again forgets why the server turned it off. */
function changeDestination({ project, id, definition, problem }: Destination, change: object): Destination {
  const merged = Object.entries({ ...definition, ...change }).filter(([, value]) => value !== null)
  const read = newDestinationSchema.safeParse(Object.fromEntries(merged))
  if (!read.success) {
    const [issue] = read.error.issues
    throw new KnownError(
      'BAD_REQUEST',
      `The change is invalid: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}. /api/openapi.json describes the fields of ${definition.kind}.`,
    )
  }
  const { id: _, ...changed } = read.data
  return { project, id, definition: changed, ...(!changed.isEnabled && problem !== undefined && { problem }) }
}

/** "On call" becomes on-call. */
function freeId(name: string, taken: readonly Destination[]): string {
  const base =
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 56) || 'destination'
  const ids = new Set(taken.map(({ id }) => id))
  if (!ids.has(base)) return base
  for (let number = 2; ; number += 1) if (!ids.has(`${base}-${number}`)) return `${base}-${number}`
}
