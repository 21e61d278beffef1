import { expect, test } from 'vitest'
import { playhead } from '../test/run-playhead.ts'

/** Node arguments that replace the package `@playhead/server` with this source. */
function withServer(source: string): string[] {
  const hooks = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier !== '@playhead/server') return next(specifier, context)
        ${source}
      },
    })`
  return ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`]
}

const printingServer = withServer(`
  const code = 'export async function serve(environment) { console.log(JSON.stringify(environment)) }'
  return { url: 'data:text/javascript,' + encodeURIComponent(code), shortCircuit: true }`)

const noServer = withServer(`
  const error = new Error("Cannot find package '@playhead/server' imported from here")
  throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })`)

const brokenServer = withServer(`
  const error = new Error("Cannot find package 'chdb' imported from @playhead/server")
  throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })`)

test('options override the environment variables of the server', async () => {
  const { stdout, exitCode } = await playhead(
    ['serve', '--port', '4400', '--host', '::1', '--data', './here', '--password', 'long enough'],
    { nodeArguments: printingServer, environment: { PLAYHEAD_PORT: '1', PLAYHEAD_DEMO: 'off' } },
  )

  expect(JSON.parse(stdout)).toMatchObject({
    PLAYHEAD_PORT: '4400',
    PLAYHEAD_HOST: '::1',
    PLAYHEAD_DATA: './here',
    PLAYHEAD_PASSWORD: 'long enough',
    PLAYHEAD_DEMO: 'off',
  })
  expect(exitCode).toBe(0)
})

test('without the server package, serve explains how to install it', async () => {
  expect(await playhead(['serve'], { nodeArguments: noServer, folder: '/' })).toEqual({
    stdout: '',
    stderr: `\
playhead: The server is a separate package, @playhead/server, and it is not installed here.
Run it without installing:  npx @playhead/server
Or install it:              npm i -D @playhead/server
`,
    exitCode: 1,
  })
})

test('a broken server package is not reported as missing', async () => {
  const { stderr, exitCode } = await playhead(['serve'], { nodeArguments: brokenServer })

  expect(stderr).toContain("Cannot find package 'chdb'")
  expect(stderr).not.toContain('not installed here')
  expect(exitCode).toBe(1)
})

test('login-link prints the link for the server that uses the folder', async () => {
  const server = withServer(`
    const code = 'export async function createLoginLink({ PLAYHEAD_DATA }) { return { url: "http://localhost:4318/api/login/" + PLAYHEAD_DATA } }'
    return { url: 'data:text/javascript,' + encodeURIComponent(code), shortCircuit: true }`)
  expect(await playhead(['login-link', '--data', 'here'], { nodeArguments: server })).toEqual({
    stdout: 'http://localhost:4318/api/login/here\n',
    stderr: '',
    exitCode: 0,
  })
})

test('login-link says why there is no link', async () => {
  const server = withServer(`
    const code = 'export async function createLoginLink() { return { problem: "No server is running here." } }'
    return { url: 'data:text/javascript,' + encodeURIComponent(code), shortCircuit: true }`)
  expect(await playhead(['login-link'], { nodeArguments: server })).toEqual({
    stdout: '',
    stderr: 'playhead: No server is running here.\n',
    exitCode: 1,
  })
})
