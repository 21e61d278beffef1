import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CliError, UsageError } from '../terminal/cli-error.ts'

export type SaveOptions = {
  signal?: AbortSignal
  /** Sees the bytes as they pass by. */
  onChunk?: (chunk: Uint8Array) => void
  /** Called when all bytes are there; what it throws leaves the file as it was. */
  check?: () => void
}

/** Writes a file that is there when it is whole, and not before; answers with its size. */
export async function saveFile(
  path: string,
  content: AsyncIterable<Uint8Array>,
  { signal, onChunk, check }: SaveOptions = {},
): Promise<number> {
  await fileExists(path)
  const partial = `${path}.partial`
  let size = 0
  const watched = async function* () {
    for await (const chunk of content) {
      size += chunk.length
      onChunk?.(chunk)
      yield chunk
    }
  }
  try {
    await pipeline(
      watched,
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

/** Whether there is a file of that name; a folder is refused, before anything is written. */
export async function fileExists(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw explainFileError(error, path)
  })
  if (found?.isDirectory() === true) throw new UsageError(`${path} is a folder. Give the name of a file.`)
  return found !== undefined
}

/** A sentence for what the file system said; other errors stay as they are. */
export function explainFileError(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (!(error instanceof Error) || error instanceof CliError || code === undefined || !('syscall' in error))
    return error
  const name = basename(path)
  const sentences: { [code: string]: string } = {
    ENOENT: `There is no ${name} in ${dirname(path)}, or no such folder.`,
    ENOTDIR: `${dirname(path)} is not a folder.`,
    EISDIR: `${path} is a folder.`,
    EACCES: `${path} may not be read or written by you.`,
    EPERM: `${path} may not be read or written by you.`,
    ENOSPC: `The disk is full: ${path} was not written.`,
    EROFS: `${path} is on a disk that can only be read.`,
  }
  return new CliError(sentences[code] ?? `${path}: ${error.message}`, { cause: error })
}
