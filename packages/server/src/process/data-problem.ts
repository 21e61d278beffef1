import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { diskFull, isDiskFull } from '../errors/disk-full.ts'
import { KnownError } from '../errors/known-error.ts'

type Place = { dataDirectory: string; clickhouseUrl: string | undefined }

const MAX_REASON_LENGTH = 200

/** Explains in one sentence why the server can't open its data, and says what to do about it. */
export function asDataProblem(error: unknown, { dataDirectory, clickhouseUrl }: Place): unknown {
  if (error instanceof KnownError && error.code !== 'ENGINE_UNAVAILABLE') return error
  if (isDiskFull(error)) return diskFull(error)
  const obstacle = findObstacle(dataDirectory) ?? folderObstacle(error)
  if (obstacle !== undefined) {
    return new KnownError(
      'DATA_UNWRITABLE',
      `Can't write to the data folder ${dataDirectory}: ${obstacle}. Give this user write access to it, or choose another folder with PLAYHEAD_DATA (playhead serve --data).`,
      { cause: error },
    )
  }
  if (error instanceof KnownError || clickhouseUrl !== undefined) return error
  return new KnownError(
    'DATA_DAMAGED',
    `Can't open the data in ${dataDirectory}; it looks damaged (${reasonOf(error)}). Move the folder away and start again with an empty one, or choose another one with PLAYHEAD_DATA; then load your last backup with: playhead restore <file>`,
    { cause: error },
  )
}

/** The first folder of ours that this process can't write to, and why. */
function findObstacle(dataDirectory: string): string | undefined {
  const inside = ['', 'log', 'log/steps', 'log/logs', 'store', 'store/tables', 'store/tables/store']
  for (const path of inside.map((name) => join(dataDirectory, name)).filter((name) => existsSync(name))) {
    if (!statSync(path).isDirectory()) return `${path} is a file`
    try {
      accessSync(path, constants.W_OK | constants.X_OK)
    } catch (error) {
      return describeError(error as NodeJS.ErrnoException, path)
    }
  }
  return undefined
}

const folderFaults = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'operation not permitted'],
  ['EROFS', 'the file system is read-only'],
  ['ENOTDIR', 'a part of the path is a file'],
])

function folderObstacle(error: unknown): string | undefined {
  const { code, path } = error as NodeJS.ErrnoException
  return code !== undefined && folderFaults.has(code) && path !== undefined
    ? describeError(error as NodeJS.ErrnoException, path)
    : undefined
}

function describeError({ code = '', message }: NodeJS.ErrnoException, path: string): string {
  return `${folderFaults.get(code) ?? message} (${code} ${path})`
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text
    .replace(/^Error: /, '')
    .split('\n', 1)[0]!
    .slice(0, MAX_REASON_LENGTH)
}
