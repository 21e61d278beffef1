import { existsSync, readdirSync } from 'node:fs'

type Platform = { platform: NodeJS.Platform; arch: string; isMusl: boolean }

/** Explains why the embedded engine can't run on this machine and what to do; undefined where it can. */
export function engineProblem(here: Platform = thisPlatform()): string | undefined {
  const alternative =
    'Set CLICKHOUSE_URL to a ClickHouse server (for example http://default:password@localhost:8123/playhead)'
  if (here.platform === 'win32') {
    return `The embedded engine has no build for Windows. Run Playhead inside WSL2, or: ${alternative}.`
  }
  if (here.platform === 'linux' && here.isMusl) {
    return `The embedded engine has no build for musl (Alpine). Use a glibc image such as node:24-slim, or: ${alternative}.`
  }
  const isBuilt = ['linux', 'darwin'].includes(here.platform) && ['x64', 'arm64'].includes(here.arch)
  if (!isBuilt)
    return `The embedded engine has no build for ${here.platform} on ${here.arch}. ${alternative}.`
  return undefined
}

function thisPlatform(): Platform {
  const { platform, arch } = process
  return { platform, arch, isMusl: platform === 'linux' && usesMusl() }
}

function usesMusl(): boolean {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined
  if (report?.header?.glibcVersionRuntime !== undefined) return false
  return existsSync('/lib') && readdirSync('/lib').some((file) => file.startsWith('ld-musl-'))
}
