import { readFileSync } from 'node:fs'

/** Linux reports CPU time in hundredths of a second, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100

/** The CPU time of a process in seconds; NaN without /proc, or if there is no such process. */
export function cpuSeconds(pid: number | undefined): number {
  const stat = readProc(pid, 'stat')
  if (stat === undefined) return Number.NaN
  // The command in parentheses may contain spaces. The fields after it start with number 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** The resident memory of a process in megabytes. */
export function residentMb(pid: number | undefined): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readProc(pid, 'status') ?? '')?.[1]
  return kilobytes === undefined ? Number.NaN : Number(kilobytes) / 1024
}

/** The first child of a process. */
export function childOf(pid: number): number | undefined {
  const children = readProc(pid, `task/${pid}/children`)?.trim().split(' ')[0]
  return children === undefined || children === '' ? undefined : Number(children)
}

/** The memory of several processes in megabytes. Counts file pages that they share, such as code, once. */
export function combinedMb(pids: readonly (number | undefined)[]): number {
  let ownKb = 0
  const filesKb = new Map<string, number>()
  for (const pid of pids) {
    for (const [file, kilobytes] of mappingsOf(pid)) {
      if (file === '') ownKb += kilobytes
      else filesKb.set(file, Math.max(filesKb.get(file) ?? 0, kilobytes))
    }
  }
  const sum = [...filesKb.values()].reduce((all, one) => all + one, ownKb)
  return sum === 0 ? Number.NaN : sum / 1024
}

/** Resident kilobytes by mapped file; anonymous memory is under ''. */
function mappingsOf(pid: number | undefined): Map<string, number> {
  const mappings = new Map<string, number>()
  const add = (file: string, kilobytes: number) => mappings.set(file, (mappings.get(file) ?? 0) + kilobytes)
  for (const mapping of (readProc(pid, 'smaps') ?? '').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)) {
    const file = /^\S+ \S+ \S+ \S+ \d+ +(\/.*)$/m.exec(mapping)?.[1] ?? ''
    const field = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(mapping)?.[1] ?? 0)
    add('', field('Anonymous'))
    add(file, field('Rss') - field('Anonymous'))
  }
  return mappings
}

/** A process and all its descendants, ancestors first. */
export function descendantsOf(pid: number): number[] {
  const children = readProc(pid, `task/${pid}/children`)?.trim().split(' ') ?? []
  return [pid, ...children.flatMap((child) => (child === '' ? [] : descendantsOf(Number(child))))]
}

function readProc(pid: number | undefined, file: string): string | undefined {
  if (pid === undefined) return undefined
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
