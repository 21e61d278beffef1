import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestLocation } from '@playhead/model'
import { findRepository } from './build-context.ts'

/** The stack above the function that defines a test. Locating the test in it can wait until its file is known. */
export function captureDefinition(define: (...args: never[]) => unknown): string {
  const holder: { stack?: string } = {}
  Error.captureStackTrace(holder, define)
  return holder.stack ?? ''
}

/** Where a test stands: the call in its file, or else the nearest call outside of installed packages. */
export function locateDefinition(stack: string, file: string | undefined): TestLocation | undefined {
  const places = stack.split('\n').flatMap(parseFrame)
  const inFile = file === undefined ? undefined : places.find(({ path }) => isInFile(path, file))
  const found = inFile ?? places.find(({ path }) => !/[/\\]node_modules[/\\]/.test(path)) ?? places[0]
  return found === undefined ? undefined : toLocation(found.path, found.line)
}

/** The file of the innermost call in a stack. */
export function callerFile(stack: string): string | undefined {
  return stack.split('\n').flatMap(parseFrame)[0]?.path
}

/** Relative to the repository, since that is how CI servers name files; elsewhere to the working directory. */
export function toLocation(path: string, line: number): TestLocation {
  const root = process.env.GITHUB_WORKSPACE || findRepository(process.cwd()) || process.cwd()
  const fromRoot = relative(root, path)
  const shown = fromRoot.startsWith('..') ? path : fromRoot
  return { path: shown.replaceAll('\\', '/'), line }
}

const frame = /\(?((?:file:\/\/|[A-Za-z]:)?[/\\][^()]*?)(?:\?[^:()]*)?:(\d+):\d+\)?$/

function parseFrame(text: string): { path: string; line: number }[] {
  const [, path, line] = frame.exec(text.trim()) ?? []
  if (path === undefined) return []
  return [{ path: path.startsWith('file://') ? fileURLToPath(path) : path, line: Number(line) }]
}

function isInFile(path: string, file: string): boolean {
  const shown = path.replaceAll('\\', '/')
  return shown === file || shown.endsWith(`/${file.replace(/^(?:\.\.?\/)+/, '')}`)
}
