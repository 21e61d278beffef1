import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { cassetteFileName, readCassette, type Cassette } from '@playhead/model'
import { findConfigFile } from '../../rerun/config-file.ts'
import type { CassetteSettings } from './cassette-option.ts'

/** The test that a cassette belongs to. */
export type CassetteOwner = {
  /** Absolute. */
  testFile: string
  /** The test's name, after those of its suites. */
  title: string
  /** The input of a test with several. */
  variant?: string | undefined
}

/** `__cassettes__/<test file>/<test>.jsonl` beside the test, or below the config's folder for cassettes. */
export function locateCassette(
  { testFile, title, variant }: CassetteOwner,
  { file }: CassetteSettings,
): string {
  const beside = dirname(testFile)
  const name = cassetteFileName(title)
  const inVariant = variant === undefined ? [`${name}.jsonl`] : [name, `${cassetteFileName(variant)}.jsonl`]
  if (file === undefined) return join(folderFor(testFile), ...inVariant)
  const path = resolve(beside, file)
  if (variant === undefined) return path
  return join(path.slice(0, path.length - extname(path).length), ...inVariant.slice(1))
}

function folderFor(testFile: string): string {
  const configured = configuredFolder(dirname(testFile))
  if (configured === undefined) return join(dirname(testFile), '__cassettes__', basename(testFile))
  return join(configured.folder, relative(configured.root, testFile))
}

/** Read as text: importing the config would start loading the agent before the test does. */
function configuredFolder(from: string): { folder: string; root: string } | undefined {
  const config = tryToFindConfig(from)
  if (config === undefined) return undefined
  const [, , folder] = /^\s*cassettes\s*:\s*(['"`])(.+?)\1/m.exec(readFileSync(config, 'utf8')) ?? []
  return folder === undefined
    ? undefined
    : { folder: resolve(dirname(config), folder), root: dirname(config) }
}

function tryToFindConfig(from: string): string | undefined {
  try {
    return findConfigFile(from)
  } catch {
    return undefined
  }
}

/** Undefined if there is no such file. */
export function openCassette(path: string): Cassette | undefined {
  if (!existsSync(path)) return undefined
  try {
    return readCassette(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`${showPath(path)} can't be read. ${(error as Error).message}`, { cause: error })
  }
}

/** A reader sees the old file or the new one, and an unchanged one is not touched. */
export function saveCassette(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  mkdirSync(dirname(path), { recursive: true })
  const unfinished = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(unfinished, text)
    renameSync(unfinished, path)
  } finally {
    rmSync(unfinished, { force: true })
  }
}

export function showPath(path: string): string {
  const shown = relative(process.cwd(), path)
  return (shown.startsWith('..') ? path : shown).replaceAll('\\', '/')
}
