import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashSecret } from './secrets.ts'

const LINK_LASTS_MS = 10 * 60_000

/**
 * Links that log in without a password, once. Whoever can write to the data folder owns the server: a link is a file
 * there, named after the hash of its secret, and using it removes the file.
 */
export async function createLoginSecret(dataDirectory: string): Promise<string> {
  const folder = linksFolder(dataDirectory)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await removeExpired(folder)
  const secret = randomBytes(32).toString('base64url')
  await writeFile(join(folder, hashSecret(secret)), '', { mode: 0o600 })
  return secret
}

/** Whether a link is valid; it is not any more afterwards. */
export async function claimLoginSecret(dataDirectory: string, secret: string): Promise<boolean> {
  if (!/^[\w-]{43}$/.test(secret)) return false
  const file = join(linksFolder(dataDirectory), hashSecret(secret))
  try {
    const isFresh = isFreshAt((await stat(file)).mtimeMs)
    // Of several that try at the same time, only one can remove it.
    await unlink(file)
    return isFresh
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function removeExpired(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    const { mtimeMs } = await stat(file)
    if (!isFreshAt(mtimeMs)) await rm(file, { force: true })
  }
}

function isFreshAt(createdAtMs: number): boolean {
  return Math.abs(Date.now() - createdAtMs) < LINK_LASTS_MS
}

function linksFolder(dataDirectory: string): string {
  return join(dataDirectory, 'login-links')
}
