import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Site } from '../access/addresses.ts'
import { networkOf, noteAddress } from '../access/client-address.ts'
import { refuseShareToken } from '../access/caller.ts'
import { guardOrigin, isOwnOrigin } from '../access/origin-guard.ts'
import { KnownError } from '../errors/known-error.ts'
import { createBodyBudget, type BodyBudget } from './body-budget.ts'
import {
  MAX_PUBLIC_BODIES,
  MAX_PUBLIC_BODIES_PER_ADDRESS,
  MAX_PUBLIC_BODY_BYTES,
  PUBLIC_ARRIVAL_MS,
  UNREAD_MS,
} from './body-limits.ts'
import type { BodyRule, FoundRule } from './body-rules.ts'
import { refuseLength, withBody } from './read-body.ts'
import { NO_BODY, type ReceivedBody } from './received-body.ts'
import { endRequest, hasBody, isSmall, refuse, setDeadline, type Refusal } from './refuse-request.ts'

/** A request that was let in: the project that its rule gave it, and its body, unless that is to be streamed. */
export type Admitted = { project: string | undefined; body: ReceivedBody | undefined }

/** What handles the requests of some paths. */
export type Destination = {
  findRule: (method: string, pathname: string) => FoundRule | undefined
  /** Called once the origin is allowed, also for requests that are refused later. */
  greet?: (request: IncomingMessage, response: ServerResponse) => void
  handle: (request: IncomingMessage, response: ServerResponse, admitted: Admitted) => Promise<void>
  describe: (error: unknown, request: IncomingMessage) => Refusal
}

export type DoorOptions = {
  site: Site
  isAuthOn: () => boolean
  limits: { budget: BodyBudget }
  destinationOf: (pathname: string) => Destination
}

/**
 * Every HTTP request comes through here. Origin, key and scope are judged from its head. A body is read only if the route
 * has a rule for it, only from a caller that the rule lets in, and only within the rule's limits.
 */
export function createDoor(
  options: DoorOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { site, isAuthOn, destinationOf } = options
  const rooms: Rooms = {
    limits: options.limits,
    publicBodies: new PublicBodies(),
    publicBudget: createBodyBudget(MAX_PUBLIC_BODIES * 2 * MAX_PUBLIC_BODY_BYTES),
  }
  return async (request, response) => {
    const [pathname = '', query = ''] = (request.url ?? '').replace(/^https?:\/\/[^/]*/i, '').split('?', 2)
    const destination = destinationOf(pathname)
    const address = noteAddress(request, site.trustedProxies)
    let isKnownCaller = false
    try {
      guardOrigin(request, pathname, site, isAuthOn())
      if (!pathname.startsWith('/api/shared/')) refuseShareToken((name) => [request.headers[name]].flat()[0])
      destination.greet?.(request, response)
      const found = destination.findRule(request.method ?? '', pathname)
      if (found === undefined) {
        ignoreBody(request, response)
        await destination.handle(request, response, { project: undefined, body: NO_BODY })
      } else {
        const { rule } = found
        const project = admit(request, { query, address, site }, found)
        isKnownCaller = rule.from !== 'anyone'
        await receive({ request, response, rule, rooms, project, address }, (body) =>
          destination.handle(request, response, { project, body }),
        )
      }
    } catch (error) {
      refuse(request, response, { ...destination.describe(error, request), isKnownCaller })
    }
    // Whoever asks and does not read is disconnected; a slow reader makes progress, which starts the time anew.
    if (response.writableEnded && !response.writableFinished) request.socket.setTimeout(UNREAD_MS)
  }
}

/** Where bodies are counted while they are in memory. */
type Rooms = { limits: { budget: BodyBudget }; publicBodies: PublicBodies; publicBudget: BodyBudget }

type Arriving = {
  request: IncomingMessage
  response: ServerResponse
  rule: BodyRule
  rooms: Rooms
  project: string | undefined
  address: string
}

/** Throws unless the head says that the caller may send this body. */
function admit(
  request: IncomingMessage,
  { query, address, site }: { query: string; address: string; site: Site },
  { rule, params }: FoundRule,
): string | undefined {
  if (rule.from === 'anyone') return undefined
  const parameters = new URLSearchParams(query)
  // Browsers send cookies with the requests of other pages on the same host, so those count only from our own pages.
  const hasCookie = isOwnOrigin(request.headers, site)
  return rule.from({
    header: (name) => (name === 'cookie' && !hasCookie ? undefined : [request.headers[name]].flat()[0]),
    query: (name) => parameters.get(name) ?? undefined,
    address,
    params,
  })
}

async function receive(
  arriving: Arriving,
  use: (body: ReceivedBody | undefined) => Promise<void>,
): Promise<void> {
  const { request, response, rule, rooms, project, address } = arriving
  // Nothing at all can't be decompressed.
  if (!hasBody(request) && request.headers['content-encoding'] === undefined) return use(NO_BODY)
  const { maxBytes, maxInflatedBytes = maxBytes, arrivalMs } = rule
  if (arrivalMs !== undefined) setDeadline(request, response, arrivalMs)
  if (Number(request.headers['content-length']) > maxBytes) refuseLength(maxBytes)
  // A client that asks before it sends its body was refused above, if at all.
  if (request.headers.expect !== undefined) response.writeContinue()
  if (rule.isStream === true) return use(undefined)
  if (rule.from === 'anyone') return use(await receivePublic(arriving))
  const holders = [networkOf(address), ...(project === undefined ? [] : [`project "${project}"`])]
  await withBody(request, { maxBytes, maxInflatedBytes, budget: rooms.limits.budget, holders }, use)
}

/** The body of somebody we don't know: it has places of its own, and can't take memory from those who have a key. */
async function receivePublic({ request, response, rule, rooms, address }: Arriving): Promise<ReceivedBody> {
  const { publicBodies, publicBudget: budget } = rooms
  const leave = publicBodies.enter(networkOf(address), () =>
    endRequest(
      request,
      response,
      new KnownError('SERVER_BUSY', 'The body took too long to arrive, and newer requests need its place.'),
    ),
  )
  try {
    const limits = { maxBytes: rule.maxBytes, maxInflatedBytes: rule.maxBytes, budget }
    return await withBody(request, limits, (body) => body)
  } finally {
    leave()
  }
}

/** A small body that a route does not want does no harm. A large one would have to be read to the end. */
function ignoreBody(request: IncomingMessage, response: ServerResponse): void {
  if (!hasBody(request)) return
  if (!isSmall(request))
    throw new KnownError('BODY_TOO_LARGE', `${request.method} of this path takes no body.`)
  setDeadline(request, response, PUBLIC_ARRIVAL_MS)
}

type Arrival = { address: string; giveWay: () => void }

/**
 * Bounds the bodies that arrive from callers we don't know yet. A genuine one arrives together with its head, so the
 * oldest is the one that stalls: it gives way to a new one, and nobody has to wait for stalled ones.
 */
class PublicBodies {
  readonly #arrivals = new Set<Arrival>()

  get count(): number {
    return this.#arrivals.size
  }

  /** Makes room for a body and returns a function that ends its stay. `giveWay` is called if a newer one needs its place. */
  enter(address: string, giveWay: () => void): () => void {
    const own = [...this.#arrivals].filter((arrival) => arrival.address === address)
    const [oldest] = own.length >= MAX_PUBLIC_BODIES_PER_ADDRESS ? own : this.#arrivals
    const isFull = own.length >= MAX_PUBLIC_BODIES_PER_ADDRESS || this.#arrivals.size >= MAX_PUBLIC_BODIES
    if (oldest !== undefined && isFull) {
      this.#arrivals.delete(oldest)
      oldest.giveWay()
    }
    const arrival = { address, giveWay }
    this.#arrivals.add(arrival)
    return () => void this.#arrivals.delete(arrival)
  }
}
