import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What we put into the data folder. */
const ours = new Set(['log', 'store', 'objects', 'inbox', 'damaged', 'lock.sock'])
const OTHERS = 0o077

/**
 * Lets only this user read the data: everything that this process and the engine create from now on, and what older
 * versions left open. A folder with other things in it is not ours alone, so it stays as it is.
 */
export function protectData(directory: string, report: (line: string) => void): void {
  process.umask(OTHERS)
  mkdirSync(directory, { recursive: true })
  const names = readdirSync(directory)
  const isOurs = names.every((name) => ours.has(name))
  const inside = names.filter((name) => ours.has(name)).map((name) => join(directory, name))
  const open = [...(isOurs ? [directory] : []), ...inside].filter(isOpen)
  if (open.length === 0) return
  for (const path of inside.filter(isOpen)) closeTree(path)
  if (isOurs) chmodSync(directory, 0o700)
  report(`Other users of this machine could read ${open.join(', ')}. Now only this user can.`)
}

/** Whether other users have any access, and we may change that. A link leads to something that is not ours. */
function isOpen(path: string): boolean {
  const found = lstatSync(path)
  return (found.mode & OTHERS) !== 0 && found.uid === process.getuid?.() && !found.isSymbolicLink()
}

function closeTree(path: string): void {
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) closeTree(join(path, name))
  if (isOpen(path)) chmodSync(path, lstatSync(path).mode & 0o700)
}
