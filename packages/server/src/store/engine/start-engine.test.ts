import { expect, test } from 'vitest'
import { engineProblem } from './start-engine.ts'

test('names the alternatives where the engine has no build', () => {
  const windows = engineProblem({ platform: 'win32', arch: 'x64', isMusl: false })
  const alpine = engineProblem({ platform: 'linux', arch: 'x64', isMusl: true })
  const power = engineProblem({ platform: 'linux', arch: 'ppc64', isMusl: false })

  expect(windows).toMatch(/Windows.*WSL2.*CLICKHOUSE_URL/)
  expect(alpine).toMatch(/musl.*node:24-slim.*CLICKHOUSE_URL/)
  expect(power).toMatch(/ppc64.*CLICKHOUSE_URL/)
})

test('has builds for glibc Linux and macOS on x64 and arm64', () => {
  for (const platform of ['linux', 'darwin'] as const) {
    for (const arch of ['x64', 'arm64'])
      expect(engineProblem({ platform, arch, isMusl: false })).toBeUndefined()
  }
})
