import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Progress } from '../harness/progress.ts'

const cache = fileURLToPath(new URL('../../node_modules/.cache/playhead-peers', import.meta.url))
const INSTALL_TIMEOUT_MS = 600_000

/** A virtual environment with one package from PyPI, installed once and kept. */
export class PythonEnvironment {
  readonly #package: string
  readonly #version: string
  readonly #oldestPython: readonly [number, number]
  readonly #folder: string

  constructor(options: { package: string; version: string; oldestPython: readonly [number, number] }) {
    this.#package = options.package
    this.#version = options.version
    this.#oldestPython = options.oldestPython
    const key = createHash('sha256').update(this.#requirement).digest('hex').slice(0, 8)
    this.#folder = join(cache, `${options.package}-${options.version}-${key}`)
  }

  get interpreter(): string {
    return join(this.#folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
  }

  async prepare(progress: Progress): Promise<{ version: string } | { missing: string }> {
    const stamp = join(this.#folder, '.complete')
    if (existsSync(stamp)) return { version: this.#version }
    const python = findPython(this.#oldestPython)
    if (python === undefined)
      return { missing: `it needs Python ${this.#oldestPython.join('.')} or later, with venv` }
    rmSync(this.#folder, { recursive: true, force: true })
    mkdirSync(this.#folder, { recursive: true })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', this.#requirement]
    const isDone =
      (await this.#run(python, ['-m', 'venv', this.#folder], progress)) &&
      (await this.#run(this.interpreter, pip, progress))
    if (!isDone) return { missing: `pip could not install ${this.#requirement} on this machine` }
    writeFileSync(stamp, '')
    return { version: this.#version }
  }

  get #requirement(): string {
    return `${this.#package}==${this.#version}`
  }

  #run(command: string, args: readonly string[], progress: Progress): Promise<boolean> {
    const startedAtMs = performance.now()
    const child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: INSTALL_TIMEOUT_MS,
    })
    const timer = setInterval(() => {
      const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
      progress.show(`installing ${this.#requirement}, only once`, undefined, `${seconds} s`)
    }, 1_000)
    return new Promise((resolve) => {
      const end = (isDone: boolean) => {
        clearInterval(timer)
        resolve(isDone)
      }
      child.once('error', () => end(false))
      child.once('close', (code) => end(code === 0))
    })
  }
}

function findPython(oldest: readonly [number, number]): string | undefined {
  return [process.env.PLAYHEAD_PYTHON, 'python3', 'python'].find((name) => {
    if (name === undefined) return false
    const script = `import sys, venv; sys.exit(sys.version_info[:2] < (${oldest.join(', ')}))`
    return spawnSync(name, ['-c', script], { stdio: 'ignore' }).status === 0
  })
}
