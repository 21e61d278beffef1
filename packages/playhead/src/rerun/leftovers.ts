import { readdirSync, readFileSync } from 'node:fs'

/** Inherited by everything that a run starts, however it is detached from it. */
export const RUN_MARK = 'PLAYHEAD_RUN_MARK'

const MAX_ROUNDS = 5

/**
 * Kills what a run has left behind outside of its process group. Works on Linux, where the environment of processes can be
 * read. Synchronous, because it is the last thing that a process does.
 */
export function killLeftovers(mark: string): void {
  if (process.platform !== 'linux' || mark === '') return
  // A process may start another one while it is looked for.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = findMarked(mark)
    if (found.length === 0) return
    for (const pid of found) kill(pid)
  }
}

function findMarked(mark: string): number[] {
  const entry = `${RUN_MARK}=${mark}`
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && environmentOf(pid).split('\0').includes(entry))
}

/** Empty for a process that has ended, or that belongs to somebody else. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return ''
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
