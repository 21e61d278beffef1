import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { KnownError } from '../errors/known-error.ts'
import { socketPath } from '../store/engine/socket-path.ts'

/** The process that holds a data directory, as it describes itself. */
export type LockHolder = { pid: number; url: string; startedAt: string; isAuthOn?: boolean }

export type DataLock = { release(): Promise<void> }

/**
 * Lets only one server use a data directory. The holder listens on a socket there. If it was killed, the socket does not
 * respond, so a stale lock is recognized without guessing from process ids.
 */
export async function lockDataDirectory(directory: string, holder: LockHolder): Promise<DataLock> {
  mkdirSync(directory, { recursive: true })
  const path = socketPath(directory, 'lock.sock')
  for (let attempt = 0; attempt < 3; attempt++) {
    const server = await listen(path, holder)
    if (server !== undefined) return { release: () => release(server, path) }
    const other = await queryHolder(path)
    if (other !== undefined) throw lockedError(directory, other)
    rmSync(path, { force: true })
  }
  throw new KnownError('DATA_LOCKED', `${directory} is just being opened by another process. Try again.`)
}

/** The server that uses a data directory now. */
export async function findLockHolder(directory: string): Promise<LockHolder | undefined> {
  return existsSync(directory) ? queryHolder(socketPath(directory, 'lock.sock')) : undefined
}

function lockedError(directory: string, other: LockHolder): KnownError {
  return new KnownError(
    'DATA_LOCKED',
    `${directory} is in use by another Playhead server: process ${other.pid} at ${other.url}, since ${other.startedAt}. Use that one, stop it (kill ${other.pid}), or set PLAYHEAD_DATA to another folder.`,
  )
}

function listen(path: string, holder: LockHolder): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.end(JSON.stringify(holder))
    })
    server.unref()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    server.listen(path, () => resolve(server))
  })
}

function queryHolder(path: string): Promise<LockHolder | undefined> {
  return new Promise((resolve) => {
    let response = ''
    const socket = connect(path)
    socket.setTimeout(3_000, () => socket.destroy())
    socket.on('data', (chunk) => (response += chunk.toString()))
    socket.on('error', () => resolve(undefined))
    socket.on('close', () => {
      // A holder that is too busy to respond still holds the lock.
      resolve(
        response === ''
          ? { pid: 0, url: 'unknown', startedAt: 'unknown' }
          : (JSON.parse(response) as LockHolder),
      )
    })
  })
}

async function release(server: Server, path: string): Promise<void> {
  await new Promise((resolve) => server.close(resolve))
  rmSync(path, { force: true })
}
