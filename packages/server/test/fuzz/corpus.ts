import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import type { FuzzCase } from './fuzz-case.ts'
import type { Violation } from './fuzz-batch.ts'

const folder = fileURLToPath(new URL('./corpus', import.meta.url))

type StoredCase = {
  what: string
  problem: string
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body: string
  /** Only of gRPC calls. */
  pieces?: number
}

/** Reads the requests that once broke something. Their content may be anything, so it is not compared. */
export function readCorpus(): FuzzCase[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => {
      const { problem, body, ...stored } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as StoredCase
      return { ...stored, what: `${name}: ${problem}`, body: Buffer.from(body, 'base64') }
    })
}

/** Saves a request that broke something; returns its file. */
export function addToCorpus({ case: one, problem }: Violation): string {
  const { what, method, path, headers, body, pieces } = one
  const name = `${createHash('sha256').update(path).update(body).digest('hex').slice(0, 12)}.json`
  mkdirSync(folder, { recursive: true })
  const stored: StoredCase = {
    what,
    problem: problem.slice(0, 400),
    method,
    path,
    headers,
    body: body.toString('base64'),
    ...(pieces !== undefined && { pieces }),
  }
  writeFileSync(join(folder, name), `${JSON.stringify(stored, undefined, 2)}\n`)
  return `test/fuzz/corpus/${name}`
}
