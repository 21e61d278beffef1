import { mkdirSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { KnownError } from '../errors/known-error.ts'
import { socketPath } from '../store/engine/socket-path.ts'

/** Who holds a data directory, as it tells whoever asks. */
export type LockHolder = { pid: number; url: string; startedAt: string }

export type DataLock = { release(): Promise<void> }

/**
 * Lets one server at a time use a data directory. The holder listens on a socket in it: a holder that was killed leaves
 * a socket nobody answers on, so a stale lock needs no guessing about process ids.
 */
export async function lockDataDirectory(directory: string, holder: LockHolder): Promise<DataLock> {
  mkdirSync(directory, { recursive: true })
  const path = socketPath(directory, 'lock.sock')
  for (let attempt = 0; attempt < 3; attempt++) {
    const server = await listen(path, holder)
    if (server !== undefined) return { release: () => release(server, path) }
    const other = await ask(path)
    if (other !== undefined) throw lockedError(directory, other)
    rmSync(path, { force: true })
  }
  throw new KnownError(
    'DATA_LOCKED',
    `${directory} is being opened by another process at this moment. Try again.`,
  )
}

function lockedError(directory: string, other: LockHolder): KnownError {
  return new KnownError(
    'DATA_LOCKED',
    `${directory} is in use by another Playhead: process ${other.pid} at ${other.url}, since ${other.startedAt}. Use that one, stop it (kill ${other.pid}), or set PLAYHEAD_DATA to another folder.`,
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

function ask(path: string): Promise<LockHolder | undefined> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(path)
    socket.setTimeout(3_000, () => socket.destroy())
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('error', () => resolve(undefined))
    socket.on('close', () => {
      // A holder too busy to answer is still a holder.
      resolve(
        answer === '' ? { pid: 0, url: 'unknown', startedAt: 'unknown' } : (JSON.parse(answer) as LockHolder),
      )
    })
  })
}

async function release(server: Server, path: string): Promise<void> {
  await new Promise((resolve) => server.close(resolve))
  rmSync(path, { force: true })
}
