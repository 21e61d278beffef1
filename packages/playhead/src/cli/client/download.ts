import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CliError, UsageError } from '../terminal/cli-error.ts'

export type SaveOptions = {
  signal?: AbortSignal
  /** Called with each chunk before it is written. */
  onChunk?: (chunk: Uint8Array) => void
  /** Called after the last byte; throwing here discards the file and keeps the old one. */
  check?: () => void
}

/** Writes a file atomically: it appears under its name only when complete. Returns its size. */
export async function saveFile(
  path: string,
  content: AsyncIterable<Uint8Array>,
  { signal, onChunk, check }: SaveOptions = {},
): Promise<number> {
  await fileExists(path)
  const partial = `${path}.partial`
  let size = 0
  const observed = async function* () {
    for await (const chunk of content) {
      size += chunk.length
      onChunk?.(chunk)
      yield chunk
    }
  }
  try {
    await pipeline(
      observed,
      createWriteStream(partial, { flush: true }),
      signal === undefined ? {} : { signal },
    )
    check?.()
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw explainFileError(error, path)
  }
  return size
}

/** Whether the file exists. Throws when the path is a folder. */
export async function fileExists(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw explainFileError(error, path)
  })
  if (found?.isDirectory() === true) throw new UsageError(`${path} is a folder. Pass a file name.`)
  return found !== undefined
}

/** Turns a file system error into a `CliError`; returns other errors unchanged. */
export function explainFileError(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (!(error instanceof Error) || error instanceof CliError || code === undefined || !('syscall' in error))
    return error
  const messages: { [code: string]: string } = {
    ENOENT: `No such file or folder: ${path}`,
    ENOTDIR: `${dirname(path)} is not a folder.`,
    EISDIR: `${path} is a folder.`,
    EACCES: `You don't have permission to access ${path}.`,
    EPERM: `You don't have permission to access ${path}.`,
    ENOSPC: `The disk is full; ${path} was not written.`,
    EROFS: `${path} is on a read-only disk.`,
  }
  return new CliError(messages[code] ?? `${path}: ${error.message}`, { cause: error })
}
