import { randomBytes } from 'node:crypto'
import { access, constants, stat, statfs } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { formatBytes, formatCount, formatDuration, type Session } from '@playhead/model'
import packageJson from '../../../package.json' with { type: 'json' }
import { findNodeProblem } from '../../runtime/node-version.ts'
import { Api, connectionError } from '../client/api.ts'
import type { Settings } from '../client/settings.ts'
import { plainLine } from '../terminal/printable-text.ts'

/** One line of the report: what was checked, what was found, and what to do if it is not right. */
export type Check = { name: string; ok: boolean; detail: string; fix?: string }

const MIN_FREE_BYTES = 500 * 1024 ** 2
const MIN_FREE_INODES = 10_000
const MAX_CLOCK_DIFFERENCE_MS = 5_000
const CONNECT_TIMEOUT_MS = 5_000
const READ_BACK_TIMEOUT_MS = 10_000
const READ_BACK_PAUSE_MS = 200

export function checkNode(): Check {
  const problem = findNodeProblem(process.versions)
  const detail = problem === undefined ? process.versions.node : `playhead ${problem}`
  return {
    name: 'Node',
    ok: problem === undefined,
    detail,
    ...(problem !== undefined && { fix: 'Update Node.' }),
  }
}

/** The data folder of a server on this machine. */
export async function checkFolder(given: string | undefined): Promise<Check[]> {
  const folder = resolve(given || join(homedir(), '.playhead'))
  const existing = await nearestFolder(folder)
  const fix =
    'Give this user write access, or choose another folder with PLAYHEAD_DATA (playhead serve --data).'
  try {
    if (!(await stat(existing)).isDirectory())
      return [{ name: 'Folder', ok: false, detail: `${existing} is a file`, fix }]
    await access(existing, constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return [{ name: 'Folder', ok: false, detail: `${existing} is not writable (${code})`, fix }]
  }
  const detail =
    existing === folder ? `${folder} is writable` : `${folder} does not exist yet; it can be created`
  return [{ name: 'Folder', ok: true, detail }, await checkDisk(existing)]
}

async function nearestFolder(folder: string): Promise<string> {
  for (let current = folder; ; current = dirname(current)) {
    const exists = await stat(current).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
    )
    if (exists || dirname(current) === current) return current
  }
}

async function checkDisk(folder: string): Promise<Check> {
  const { bavail, bsize, files, ffree } = await statfs(folder)
  const freeBytes = bavail * bsize
  // Some file systems have no fixed number of inodes and report 0.
  const hasInodes = files > 0
  const ok = freeBytes >= MIN_FREE_BYTES && (!hasInodes || ffree >= MIN_FREE_INODES)
  const inodes = hasInodes ? `, ${formatCount(ffree)} inodes` : ''
  return {
    name: 'Disk',
    ok,
    detail: `${formatBytes(freeBytes)} free${inodes}`,
    ...(!ok && { fix: 'Free some space, or shorten the retention: playhead retention 30' }),
  }
}

export type Reached = { checks: Check[]; isReached: boolean }

/** Whether a Playhead server responds, and whether its clock agrees with ours. */
export async function checkServer({ endpoint }: Settings): Promise<Reached> {
  const sentAtMs = Date.now()
  let response: Response
  try {
    response = await fetch(`${endpoint}/readyz`, { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) })
  } catch (error) {
    return {
      checks: [
        {
          name: 'Server',
          ok: false,
          ...splitHint(connectionError(error, endpoint).message, 'Check the URL and your network.'),
        },
      ],
      isReached: false,
    }
  }
  const receivedAtMs = Date.now()
  const text = await response.text()
  if (text !== 'ready\n') {
    const detail = text.includes('STORE_UNAVAILABLE')
      ? `${endpoint} responds, but its store does not`
      : `${endpoint} is another program, not Playhead`
    const fix = text.includes('STORE_UNAVAILABLE')
      ? "Look at the server's output; restart it if it does not recover."
      : 'Use another port: playhead serve --port 4319, and set PLAYHEAD_ENDPOINT=http://localhost:4319'
    return { checks: [{ name: 'Server', ok: false, detail, fix }], isReached: false }
  }
  const server = { name: 'Server', ok: true, detail: `${endpoint} responds` }
  return { checks: [server, checkClock(response, sentAtMs, receivedAtMs)], isReached: true }
}

/** Our errors say what is wrong in their first sentence, and then what to do. */
function splitHint(message: string, otherwise: string): { detail: string; fix: string } {
  const [, detail = message, fix = ''] = /^(.*?)\.(?:\s+(.*))?$/s.exec(message) ?? []
  return { detail, fix: fix === '' ? otherwise : fix }
}

/** The header has whole seconds, so half a second is the best guess. */
function checkClock({ headers }: Response, sentAtMs: number, receivedAtMs: number): Check {
  const serverMs = Date.parse(headers.get('date') ?? '') + 500
  const differenceMs = Math.abs(serverMs - (sentAtMs + receivedAtMs) / 2)
  if (Number.isNaN(differenceMs)) return { name: 'Clock', ok: true, detail: 'the server sends no time' }
  const ok = differenceMs <= MAX_CLOCK_DIFFERENCE_MS + (receivedAtMs - sentAtMs)
  const detail = ok
    ? 'agrees with the server'
    : `differs from the server's by ${formatDuration(differenceMs)}`
  return {
    name: 'Clock',
    ok,
    detail,
    ...(!ok && { fix: 'Synchronize both clocks (NTP): steps would appear at the wrong time.' }),
  }
}

type Caller = { kind: string; isAuthOn: boolean; project?: string; scopes?: string[]; version?: string }

/** Whether the server knows the key or the password, what it may do, and the server's version. */
export async function checkAccess(settings: Settings): Promise<Check[]> {
  let caller: Caller
  try {
    const api = await Api.connect(settings, 'read')
    caller = await api.json<Caller>('/api/me')
  } catch (error) {
    return [{ name: 'Key', ok: false, ...splitHint((error as Error).message, createKey) }]
  }
  const checks = [describeCaller(caller, settings)]
  if (caller.version !== undefined) checks.push(checkVersion(caller.version))
  return checks
}

const createKey = 'Create a key with: playhead keys create --name me, and set PLAYHEAD_API_KEY'

function describeCaller({ kind, isAuthOn, project = '', scopes = [] }: Caller, settings: Settings): Check {
  const name = 'Key'
  if (kind === 'key') {
    const missing = ['ingest', 'read'].filter((scope) => !scopes.includes(scope) && !scopes.includes('admin'))
    const detail = `valid for project ${plainLine(project)}, with scopes ${scopes.map(plainLine).join(', ')}`
    if (missing.length === 0) return { name, ok: true, detail }
    return { name, ok: false, detail: `${detail}; ${missing.join(' and ')} is missing`, fix: createKey }
  }
  if (kind === 'nobody')
    return settings.apiKey === undefined
      ? { name, ok: false, detail: 'none is set, and this server needs one', fix: createKey }
      : { name, ok: false, detail: 'unknown or revoked', fix: createKey }
  if (isAuthOn) return { name, ok: true, detail: 'logged in with the password' }
  return settings.apiKey === undefined
    ? { name, ok: true, detail: 'none needed' }
    : { name, ok: true, detail: 'this server does not know it, and needs none' }
}

function checkVersion(version: string): Check {
  const ok = version === packageJson.version
  return {
    name: 'Version',
    ok,
    detail: ok ? version : `the server is ${plainLine(version)}, this command is ${packageJson.version}`,
    ...(!ok && { fix: `Install the same version of both: npm i -D playhead@${plainLine(version)}` }),
  }
}

const SPAN_NAME = 'playhead doctor'

/** Sends a span the way an agent does, reads it back, and removes it. */
export async function checkSpan(settings: Settings): Promise<Check> {
  const traceId = randomBytes(16).toString('hex')
  const startedAt = performance.now()
  try {
    const api = await Api.connect(settings, 'read')
    await api.json('/v1/traces', { method: 'POST', body: testSpan(traceId) })
    const session = await readBack(api, traceId)
    const took = formatDuration(performance.now() - startedAt)
    if (session?.steps.length !== 1 || session.steps[0]!.name !== SPAN_NAME)
      return {
        name: 'Test span',
        ok: false,
        detail: 'was accepted, but could not be read back',
        fix: "Look at the server's output, and at pendingRows in /api/health.",
      }
    return {
      name: 'Test span',
      ok: true,
      detail: `sent and read back in ${took}; ${await remove(settings, traceId)}`,
    }
  } catch (error) {
    return {
      name: 'Test span',
      ok: false,
      ...splitHint((error as Error).message, 'Mend what is wrong above first.'),
    }
  }
}

/** Marked like the demo, so that it is left out with it where it can't be removed. */
function testSpan(traceId: string): object {
  const atNs = String(BigInt(Date.now()) * 1_000_000n)
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const span = {
    traceId,
    spanId: randomBytes(8).toString('hex'),
    name: SPAN_NAME,
    kind: 1,
    startTimeUnixNano: atNs,
    endTimeUnixNano: atNs,
  }
  const attributes = [attribute('service.name', 'playhead-doctor'), attribute('playhead.demo', 'true')]
  return {
    resourceSpans: [
      { resource: { attributes }, scopeSpans: [{ scope: { name: 'playhead-doctor' }, spans: [span] }] },
    ],
  }
}

async function readBack(api: Api, traceId: string): Promise<Session | undefined> {
  for (const deadline = performance.now() + READ_BACK_TIMEOUT_MS; ;) {
    try {
      return await api.json<Session>(`/api/sessions/${traceId}`)
    } catch (error) {
      const isMissing = /no session/i.test((error as Error).message)
      if (!isMissing) throw error
      if (performance.now() > deadline) return undefined
    }
    await pause(READ_BACK_PAUSE_MS)
  }
}

async function remove(settings: Settings, traceId: string): Promise<string> {
  try {
    const api = await Api.connect(settings, 'admin')
    await api.json(`/api/sessions/${traceId}`, { method: 'DELETE' })
    return 'removed'
  } catch {
    return 'it stays, marked as demo, because this key may not delete'
  }
}
