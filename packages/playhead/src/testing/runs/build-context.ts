import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** The branch and commit under test, and the CI build that runs the tests. */
export type BuildContext = { branch?: string; commit?: string; provider?: string; runId?: string }

/** Reads the environment of the CI server, or else the files of the git repository. */
export function readBuildContext(environment: Environment, folder: string): BuildContext {
  const fromCi = readCi(environment)
  return withoutEmpty(fromCi ?? readGit(folder) ?? {})
}

const providers: readonly ((environment: Environment) => BuildContext | false)[] = [
  (environment) =>
    environment.GITHUB_ACTIONS === 'true' && {
      provider: 'github',
      branch: environment.GITHUB_HEAD_REF || environment.GITHUB_REF_NAME || '',
      commit: environment.GITHUB_SHA ?? '',
      runId: `github-${environment.GITHUB_RUN_ID}-${environment.GITHUB_RUN_ATTEMPT ?? '1'}`,
    },
  (environment) =>
    environment.GITLAB_CI === 'true' && {
      provider: 'gitlab',
      branch: environment.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME || environment.CI_COMMIT_REF_NAME || '',
      commit: environment.CI_COMMIT_SHA ?? '',
      runId: `gitlab-${environment.CI_PIPELINE_ID}`,
    },
  (environment) =>
    environment.CIRCLECI === 'true' && {
      provider: 'circleci',
      branch: environment.CIRCLE_BRANCH ?? '',
      commit: environment.CIRCLE_SHA1 ?? '',
      runId: `circleci-${environment.CIRCLE_WORKFLOW_ID}`,
    },
  (environment) =>
    environment.BUILDKITE === 'true' && {
      provider: 'buildkite',
      branch: environment.BUILDKITE_BRANCH ?? '',
      commit: environment.BUILDKITE_COMMIT ?? '',
      runId: `buildkite-${environment.BUILDKITE_BUILD_ID}`,
    },
]

function readCi(environment: Environment): BuildContext | undefined {
  for (const provider of providers) {
    const context = provider(environment)
    if (context !== false) return context
  }
  return undefined
}

function readGit(folder: string): BuildContext | undefined {
  const git = findGit(folder)
  if (git === undefined) return undefined
  const head = readText(join(git, 'HEAD'))
  const ref = /^ref: (.+)$/.exec(head)?.[1]
  if (ref === undefined) return { commit: head }
  return { branch: ref.replace(/^refs\/heads\//, ''), commit: readRef(git, ref) }
}

/** The `.git` folder, or the one that a worktree's `.git` file points to. */
function findGit(folder: string): string | undefined {
  const root = findRepository(folder)
  if (root === undefined) return undefined
  const git = join(root, '.git')
  const elsewhere = existsSync(join(git, 'HEAD')) ? undefined : gitFolderIn(git)
  return elsewhere === undefined ? git : resolve(root, elsewhere)
}

/** The root of the git repository or worktree around a folder. */
export function findRepository(folder: string): string | undefined {
  let place = resolve(folder)
  for (;;) {
    const git = join(place, '.git')
    if (existsSync(join(git, 'HEAD')) || gitFolderIn(git) !== undefined) return place
    if (dirname(place) === place) return undefined
    place = dirname(place)
  }
}

/** A worktree has a file `.git` that names a folder. */
function gitFolderIn(file: string): string | undefined {
  return /^gitdir: (.+)$/m.exec(readText(file))?.[1]?.trim()
}

function readRef(git: string, ref: string): string {
  const common = existsSync(join(git, 'commondir')) ? resolve(git, readText(join(git, 'commondir'))) : git
  const loose = readText(join(common, ref))
  if (loose !== '') return loose
  const packed = readText(join(common, 'packed-refs')).split('\n')
  return packed.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0] ?? ''
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

function withoutEmpty(context: BuildContext): BuildContext {
  return Object.fromEntries(Object.entries(context).filter(([, value]) => value !== ''))
}
