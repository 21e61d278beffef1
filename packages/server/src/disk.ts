import { statfs } from 'node:fs/promises'
import { KnownError } from './errors/known-error.ts'

/** Bytes that may still be written to the disk of a folder; undefined where the file system does not say. */
export async function freeBytesOf(folder: string): Promise<number | undefined> {
  const { blocks, bavail, bsize } = await statfs(folder)
  return blocks === 0 ? undefined : bavail * bsize
}

/** What is said wherever a disk has no room for what is to be written. */
export function diskFull(cause: unknown): KnownError {
  return new KnownError(
    'DISK_FULL',
    'The disk is full (of bytes, or of files: df -i): nothing was stored. Make room in PLAYHEAD_DATA and try again.',
    { cause, retryAfterSeconds: 10 },
  )
}

/** Whether the system refused to write a file of ours for want of room. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}
