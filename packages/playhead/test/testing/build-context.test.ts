import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readBuildContext } from '../../src/testing/runs/build-context.ts'
import { temporaryFolder } from '../temporary-folder.ts'

test('reads a branch, packed refs, a worktree and a detached head from the git files', async () => {
  const folder = await temporaryFolder()
  const git = join(folder, '.git')
  const inside = join(folder, 'packages/agent')
  await mkdir(join(git, 'refs/heads/feature'), { recursive: true })
  await mkdir(inside, { recursive: true })
  await writeFile(join(git, 'HEAD'), 'ref: refs/heads/feature/refunds\n')
  await writeFile(join(git, 'refs/heads/feature/refunds'), 'abc123\n')
  expect(readBuildContext({}, inside)).toEqual({ branch: 'feature/refunds', commit: 'abc123' })

  await writeFile(join(git, 'HEAD'), 'ref: refs/heads/main\n')
  await writeFile(join(git, 'packed-refs'), '# pack-refs\nfed987 refs/heads/main\n')
  expect(readBuildContext({}, folder)).toEqual({ branch: 'main', commit: 'fed987' })

  const worktree = join(folder, 'elsewhere')
  await mkdir(join(git, 'worktrees/elsewhere'), { recursive: true })
  await mkdir(worktree)
  await writeFile(join(worktree, '.git'), `gitdir: ${join(git, 'worktrees/elsewhere')}\n`)
  await writeFile(join(git, 'worktrees/elsewhere/HEAD'), 'ref: refs/heads/main\n')
  await writeFile(join(git, 'worktrees/elsewhere/commondir'), '../..\n')
  expect(readBuildContext({}, worktree)).toEqual({ branch: 'main', commit: 'fed987' })

  await writeFile(join(git, 'HEAD'), '0123456789\n')
  expect(readBuildContext({}, folder)).toEqual({ commit: '0123456789' })
})

test.each([
  [
    'GitHub for a pull request',
    {
      GITHUB_ACTIONS: 'true',
      GITHUB_HEAD_REF: 'fix',
      GITHUB_REF_NAME: '7/merge',
      GITHUB_SHA: 'a1',
      GITHUB_RUN_ID: '9',
    },
    { provider: 'github', branch: 'fix', commit: 'a1', runId: 'github-9-1' },
  ],
  [
    'GitLab',
    { GITLAB_CI: 'true', CI_COMMIT_REF_NAME: 'main', CI_COMMIT_SHA: 'b2', CI_PIPELINE_ID: '8' },
    { provider: 'gitlab', branch: 'main', commit: 'b2', runId: 'gitlab-8' },
  ],
  [
    'CircleCI for a tag',
    { CIRCLECI: 'true', CIRCLE_SHA1: 'c3', CIRCLE_WORKFLOW_ID: 'w' },
    { provider: 'circleci', commit: 'c3', runId: 'circleci-w' },
  ],
  [
    'Buildkite',
    { BUILDKITE: 'true', BUILDKITE_BRANCH: 'x', BUILDKITE_COMMIT: 'd4', BUILDKITE_BUILD_ID: 'b' },
    { provider: 'buildkite', branch: 'x', commit: 'd4', runId: 'buildkite-b' },
  ],
])('reads the environment of %s', (_, environment, context) => {
  expect(readBuildContext(environment, '/')).toEqual(context)
})

test('is empty outside of CI and git', async () => {
  expect(readBuildContext({}, await temporaryFolder())).toEqual({})
})
