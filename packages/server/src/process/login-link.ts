import { createLoginSecret } from '../access/login-links.ts'
import { dataDirectoryOf } from './config.ts'
import { findLockHolder } from './data-lock.ts'

/** Implements `playhead login-link`: makes a link that logs in once, for who can write to the data folder. */
export async function createLoginLink(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ url: string } | { problem: string }> {
  const folder = dataDirectoryOf(environment)
  const holder = await findLockHolder(folder)
  if (holder === undefined) {
    return {
      problem: `No server is running with the data folder ${folder}. Name its folder with --data or PLAYHEAD_DATA, or start it: playhead serve`,
    }
  }
  if (holder.isAuthOn !== true)
    return { problem: `Auth is off on the server at ${holder.url}: open it, no login is needed.` }
  const secret = await createLoginSecret(folder)
  const origin = environment.PLAYHEAD_URL?.replace(/\/+$/, '') || reachable(holder.url)
  return { url: `${origin}/api/login/${secret}` }
}

/** A server that listens on all addresses is at none of these names. */
function reachable(url: string): string {
  return url.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, '//localhost')
}
