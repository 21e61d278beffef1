import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from './temporary-folder.ts'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const published = join(packageFolder, 'dist-package')

beforeAll(async () => {
  await promisify(execFile)('npm', ['run', '--silent', 'stage'], { cwd: packageFolder })
})

test('the published package needs nothing from this repository', () => {
  const manifest = JSON.parse(readFileSync(join(published, 'package.json'), 'utf8'))
  expect(Object.keys(manifest.dependencies)).toContain('chdb')
  expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith('@playhead/'))).toEqual([])
  const imported = new Set<string>()
  for (const file of globSync('dist/**/*.js', { cwd: published, exclude: ['dist/dashboard/**'] })) {
    const text = readFileSync(join(published, file), 'utf8')
    for (const [, name] of text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^'"\n]*?["']([^./'"][^'"]*)["']/g))
      imported.add(name!)
  }
  const packages = [...imported].filter((name) => !isBuiltin(name)).map(packageOf)
  expect([...new Set(packages)].filter((name) => manifest.dependencies[name] === undefined)).toEqual([])
})

test('the published package starts and has the demo, the dashboard and the one-file replay', async () => {
  const server = spawn(process.execPath, [join(published, 'dist/main.js')], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      PLAYHEAD_PORT: '0',
      PLAYHEAD_GRPC_PORT: '0',
      PLAYHEAD_DATA: await temporaryFolder(),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    server.kill('SIGTERM')
    await once(server, 'exit')
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`it ended with ${code}: ${output}`)))
    server.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('demo        recorded')) resolve()
    })
  })
  const url = /Playhead is at (\S+)/.exec(output)![1]!
  const get = async (path: string) => (await fetch(`${url}${path}`)).text()
  const { sessions } = JSON.parse(await get('/api/sessions?status=fail'))
  expect(sessions.length).toBeGreaterThan(0)
  expect(await get('/')).toContain('<div id="root">')
  const replay = await fetch(`${url}/api/sessions/${sessions[0].id}/recording.html`)
  expect([replay.status, replay.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8'])
})

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
