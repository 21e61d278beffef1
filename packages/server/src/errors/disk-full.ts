import { KnownError } from './known-error.ts'

export function diskFull(cause: unknown): KnownError {
  return new KnownError(
    'DISK_FULL',
    'The disk is full (no bytes left, or no inodes: df -i). Nothing was stored. Free some space in PLAYHEAD_DATA and try again.',
    { cause, retryAfterSeconds: 10 },
  )
}

export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}
