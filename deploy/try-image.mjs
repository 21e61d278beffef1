// Runs the steps of the Dockerfile without Docker, then the image as a container would run: as its user, with a read-only
// root, one volume, the health check, and SIGTERM. Needs root, debootstrap and a package mirror; Linux only.
//   node deploy/try-image.mjs [--keep]
// The base image is replaced with a bare Debian root, Node and npm. What that can't show: the base image itself, and layers.
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('..', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'playhead-image-'))
const STOP_LIMIT_MS = 10_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** So that the test's sessions are recognised after a restart. */
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'

try {
  const image = build(readFileSync(join(repository, 'Dockerfile'), 'utf8'))
  await run(image)
} finally {
  if (!process.argv.includes('--keep')) rmSync(work, { recursive: true, force: true })
}

/** Builds every stage in a root of its own; returns the last one with its settings. */
function build(dockerfile) {
  const stages = []
  for (const { name, rest } of instructions(dockerfile)) {
    const stage = stages.at(-1)
    switch (name) {
      case 'FROM':
        stages.push(newStage(rest))
        break
      case 'WORKDIR':
        stage.directory = rest
        mkdirSync(join(stage.root, rest), { recursive: true })
        break
      case 'ENV':
        Object.assign(stage.environment, Object.fromEntries([splitOnce(rest, '=')]))
        break
      case 'COPY':
        copy(stage, rest, stages)
        break
      case 'RUN':
        say(`RUN ${rest}`)
        inRoot(stage, ['sh', '-ec', `cd ${stage.directory} && ${rest}`])
        break
      case 'USER':
        stage.user = rest
        break
      case 'HEALTHCHECK':
        stage.healthCheck = JSON.parse(rest.slice(rest.indexOf('[')))
        break
      case 'ENTRYPOINT':
      case 'CMD':
        stage[name.toLowerCase()] = JSON.parse(rest)
        break
      case 'VOLUME':
        stage.volume = rest
        break
      case 'EXPOSE':
      case 'STOPSIGNAL':
        break
      default:
        throw new Error(`This script does not know the instruction ${name}.`)
    }
  }
  return stages.at(-1)
}

function instructions(dockerfile) {
  return dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name, rest] = splitOnce(line, ' ')
      return { name, rest: rest.trim() }
    })
}

/** A bare Debian with Node and npm, as the slim images of Node have. */
function newStage(from) {
  const [image, , name] = from.split(/\s+/)
  const [, release] = /^node:24-(\w+)-slim$/.exec(image) ?? []
  if (release === undefined) throw new Error(`This script has no stand-in for the image ${image}.`)
  say(`FROM ${from}`)
  const root = join(work, name ?? 'image')
  const cache = join(repository, 'node_modules/.cache', `debian-${release}`)
  if (!existsSync(join(cache, 'usr'))) {
    mkdirSync(cache, { recursive: true })
    execute('debootstrap', ['--variant=minbase', '--include=ca-certificates', release, cache, debianMirror()])
  }
  execute('cp', ['-a', '--reflink=auto', cache, root])
  cpSync(nodeOfRepository(), join(root, 'usr/local/bin/node'))
  const npm = realpathSync(which('npm')).replace(/\/bin\/[^/]+$/, '')
  cpSync(npm, join(root, 'usr/local/lib/npm'), { recursive: true })
  writeFileSync(
    join(root, 'usr/local/bin/npm'),
    '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n',
    { mode: 0o755 },
  )
  writeFileSync(
    join(root, 'usr/local/bin/npx'),
    '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npx-cli.js "$@"\n',
    { mode: 0o755 },
  )
  return { root, name, directory: '/', environment: {}, user: '0:0' }
}

/** The version that the image has. The machine's own may be older. */
function nodeOfRepository() {
  const installed = join(repository, 'node_modules/node/bin/node')
  return realpathSync(existsSync(installed) ? installed : process.execPath)
}

function copy(stage, rest, stages) {
  say(`COPY ${rest}`)
  const words = rest.split(/\s+/)
  const from = /^--from=(.+)$/.exec(words[0])?.[1]
  const [source, target] = words.slice(from === undefined ? 0 : 1)
  const to = resolve(stage.directory, target)
  if (from !== undefined) {
    const origin = stages.find(({ name }) => name === from)
    execute('cp', ['-a', join(origin.root, source), join(stage.root, to)])
    return
  }
  // What git knows, which is what a clone has. The folder for it exists already.
  const files = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  const packed = spawnSync('tar', ['-c', '--ignore-failed-read', '-T', '-'], {
    cwd: repository,
    input: files.stdout,
    maxBuffer: 2 ** 31 - 1,
  })
  execute('tar', ['-x', '-C', join(stage.root, to)], {
    input: packed.stdout,
    stdio: ['pipe', 'inherit', 'inherit'],
  })
}

/** Build steps may use the network: the machine's own settings for it are lent to the root while they run. */
function inRoot(stage, command) {
  const lent = [
    '/etc/resolv.conf',
    '/etc/hosts',
    '/etc/ssl',
    '/usr/local/share/ca-certificates',
    npmrcOfMachine(),
    process.env.NODE_EXTRA_CA_CERTS,
  ]
  for (const path of lent.filter((path) => path !== undefined && existsSync(path))) {
    // The root's own links are absolute, so that seen from here they lead to the very files that are lent.
    rmSync(join(stage.root, path), { recursive: true, force: true })
    cpSync(path, join(stage.root, path), { recursive: true, dereference: true })
  }
  const network = Object.entries(process.env).filter(([name]) =>
    /^(npm_config_|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT)/i.test(name),
  )
  execute(
    'unshare',
    ['--mount', '--pid', '--fork', `--root=${stage.root}`, '--mount-proc=/proc', ...command],
    {
      env: { PATH, HOME: '/root', ...Object.fromEntries(network), ...stage.environment },
    },
  )
}

/** Runs the image, sends it a session, ends it with SIGTERM, runs it again, and asks for the session. */
async function run(stage) {
  const volume = join(work, 'volume')
  mkdirSync(volume)
  execute('chown', [stage.user, volume])
  const port = await freePort()
  const environment = {
    ...stage.environment,
    PLAYHEAD_PORT: String(port),
    PLAYHEAD_GRPC_PORT: 'off',
    PLAYHEAD_PASSWORD: 'a password',
    PLAYHEAD_DEMO: 'off',
  }
  const url = `http://127.0.0.1:${port}`
  const first = start(stage, volume, environment)
  await healthy(stage, first)
  const cookie = await logIn(url)
  const sent = await fetch(`${url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await newKey(url, cookie)) },
    body: JSON.stringify(oneSession()),
  })
  if (!sent.ok) throw new Error(`POST /v1/traces: ${sent.status} ${await sent.text()}`)
  expectProtected(stage, first)
  const stoppedInMs = await stop(first)
  say(`ended ${Math.round(stoppedInMs)} ms after SIGTERM`)
  if (stoppedInMs > STOP_LIMIT_MS)
    throw new Error(`It took ${stoppedInMs} ms to end; at most ${STOP_LIMIT_MS} are allowed.`)
  const second = start(stage, volume, environment)
  await healthy(stage, second)
  const found = await fetch(`${url}/api/sessions/${TRACE_ID}`, { headers: { cookie: await logIn(url) } })
  if (!found.ok) throw new Error(`The session is gone after a restart: ${found.status} ${await found.text()}`)
  say('the session that was sent before SIGTERM is there after a restart')
  await stop(second)
}

/** In namespaces of its own: a read-only root, a volume, an empty /tmp, and the user of the image. */
function start(stage, volume, environment) {
  const { root, user } = stage
  const [uid, gid] = user.split(':')
  const script = `
    mount --bind ${root} ${root} && mount --bind ${volume} ${root}${stage.volume} && mount -t tmpfs tmpfs ${root}/tmp
    mount -t proc proc ${root}/proc && mount -o remount,bind,ro ${root}
    exec chroot --userspec=${uid}:${gid} ${root} /usr/bin/env -i ${Object.entries(environment)
      .map(([name, value]) => `${name}='${value}'`)
      .join(' ')} "$@"`
  const command = [...stage.entrypoint, ...stage.cmd]
  say(`user ${user}, read-only root: ${command.join(' ')}`)
  const child = spawn(
    'unshare',
    ['--mount', '--propagation=private', 'sh', '-ec', script, 'sh', ...command],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  )
  return { child, environment, ended: new Promise((done) => child.once('exit', done)) }
}

async function healthy(stage, { child, environment }) {
  for (const deadline = Date.now() + 90_000; Date.now() < deadline; await pause(500)) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}.`)
    const { status } = spawnSync('chroot', [
      stage.root,
      '/usr/bin/env',
      '-i',
      ...Object.entries(environment).map((entry) => entry.join('=')),
      ...stage.healthCheck,
    ])
    if (status === 0) return say('the health check passes')
  }
  throw new Error('The health check did not pass within 90 seconds.')
}

/** Not root, and nothing outside of the volume and /tmp can be written. */
function expectProtected({ user }, { child }) {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const [, uid] = /^Uid:\s+(\d+)/m.exec(status)
  if (uid !== user.split(':')[0]) throw new Error(`It runs as user ${uid}.`)
  const mounts = readFileSync(`/proc/${child.pid}/mounts`, 'utf8').split('\n')
  const rootMount = mounts.filter((line) => line.split(' ')[1] === '/').at(-1) ?? ''
  if (!/\sro[,\s]/.test(rootMount)) throw new Error(`Its root can be written: ${rootMount}`)
  say(`it runs as user ${uid} on a read-only root`)
}

async function stop({ child, ended }) {
  const startedAt = performance.now()
  child.kill('SIGTERM')
  await ended
  return performance.now() - startedAt
}

async function logIn(url) {
  const response = await fetch(`${url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"password":"a password"}',
  })
  if (!response.ok) throw new Error(`POST /api/login: ${response.status} ${await response.text()}`)
  return response.headers.getSetCookie()[0].split(';')[0]
}

async function newKey(url, cookie) {
  const response = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { cookie, origin: url, 'content-type': 'application/json' },
    body: '{"name":"image","scopes":["ingest"]}',
  })
  if (!response.ok) throw new Error(`POST /api/keys: ${response.status} ${await response.text()}`)
  return { authorization: `Bearer ${(await response.json()).secret}` }
}

function oneSession() {
  const time = `${Date.now()}000000`
  const span = {
    traceId: TRACE_ID,
    spanId: 'b7ad6b7169203331',
    name: 'agent',
    kind: 1,
    startTimeUnixNano: time,
    endTimeUnixNano: time,
  }
  return { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }
}

function debianMirror() {
  const sources = spawnSync(
    'sh',
    ['-c', 'cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null'],
    { encoding: 'utf8' },
  ).stdout
  return /^(?:URIs:|deb)\s+(?:\[.*?\]\s+)?(\S+)/m.exec(sources)?.[1] ?? 'http://deb.debian.org/debian'
}

function npmrcOfMachine() {
  const { stdout } = spawnSync('npm', ['config', 'get', 'userconfig'], { encoding: 'utf8' })
  return stdout.trim() || undefined
}

function which(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim()
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const { port } = server.address()
  await new Promise((done) => server.close(done))
  return port
}

function execute(program, args, options = {}) {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', ...options })
  if (error !== undefined || status !== 0)
    throw new Error(
      `${program} ${args.slice(0, 6).join(' ')} failed: ${error?.message ?? `exit code ${status}`}`,
    )
}

function splitOnce(text, separator) {
  const index = text.indexOf(separator)
  return [text.slice(0, index), text.slice(index + 1)]
}

function say(line) {
  console.log(`── ${line}`)
}
