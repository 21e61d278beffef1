import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

function run(script: string, args: readonly string[] = [], environment: Record<string, string> = {}) {
  return new Promise<{ code: number; output: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(root, 'scripts', script), ...args],
      { cwd: root, env: { ...process.env, ...environment } },
      (error, stdout) => resolve({ code: Number(error?.code ?? 0), output: stdout }),
    )
  })
}

describe('licences', () => {
  test('every shipped package has a permissive licence', async () => {
    const { code, output } = await run('check-licences.mjs')
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/^\d{3} shipped packages/),
    })
  })

  test('a restrictive licence fails and is named, however deep the package is', async () => {
    const licences = {
      free: 'MIT',
      'one-of-two': '(MIT OR GPL-3.0)',
      'both-of-two': 'MIT AND GPL-2.0',
      network: 'AGPL-3.0-only',
      unsaid: undefined,
    }
    const folder = await mkdtemp(join(tmpdir(), 'playhead-licences-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const inner = Object.entries(licences).map(([name, license]) => [
      `node_modules/${name}`,
      { version: '1.0.0', license },
    ])
    const packages = {
      'packages/server': { dependencies: { outer: '1' } },
      'node_modules/outer': { version: '1.0.0', license: 'ISC', dependencies: toVersions(licences) },
      'node_modules/only-for-developers': { version: '1.0.0', license: 'GPL-3.0', dev: true },
      ...Object.fromEntries(inner),
    }
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ packages }))
    const { code, output } = await run('check-licences.mjs', [folder])
    const named = output.split('\n').flatMap((line) => /^(\S+) 1\.0\.0 /.exec(line)?.[1] ?? [])
    expect({ code, named }).toEqual({ code: 1, named: ['both-of-two', 'network', 'unsaid'] })
  })
})

function toVersions(names: object): Record<string, string> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, '1']))
}

describe('the audit', () => {
  /** Answers what the registry would say of one of our dependencies; undefined: that it takes no such question. */
  async function registryThatSays(severity: string | undefined): Promise<Record<string, string>> {
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const advisory = {
          id: 1,
          url: 'https://example.com/1',
          title: 'A hole',
          severity,
          vulnerable_versions: '<999',
        }
        if (request.method === 'POST' && severity !== undefined)
          response.setHeader('content-type', 'application/json').end(JSON.stringify({ hono: [advisory] }))
        else response.writeHead(405).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // npm remembers what it was told of a vulnerability.
    const cache = await mkdtemp(join(tmpdir(), 'playhead-audit-'))
    onTestFinished(() => void server.close())
    onTestFinished(() => rm(cache, { recursive: true, force: true }))
    return {
      npm_config_cache: cache,
      npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    }
  }

  test('a serious vulnerability of what is shipped fails, and is named', async () => {
    const { code, output } = await run('audit.mjs', [], await registryThatSays('critical'))
    expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(/^hono .*critical, A hole/m) })
  })

  test('one that is not serious does not', async () => {
    const { code, output } = await run('audit.mjs', [], await registryThatSays('low'))
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringContaining('no known high or critical vulnerabilities'),
    })
  })

  test('a registry that does not answer fails no build, and that nothing was audited is said', async () => {
    const { code, output } = await run('audit.mjs', [], await registryThatSays(undefined))
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^NOT AUDITED: .*\n$/) })
  })
})
