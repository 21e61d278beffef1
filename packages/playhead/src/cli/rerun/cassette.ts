import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { countOf, lintCassette, parseDuration, type CassetteFinding } from '@playhead/model'
import { lastUses } from '../../testing/cassettes/cassette-use.ts'
import { defineCommand } from '../arguments/command.ts'
import { CliError, QuietExit, UsageError } from '../terminal/cli-error.ts'

const DEFAULT_MAX_AGE = '180d'

export const cassetteLintCommand = defineCommand({
  name: 'cassette lint',
  arguments: ['files…'],
  summary: 'Find secrets, unused entries, old recordings and broken lines in cassettes',
  details: `[files…] are cassettes or folders; without them, all cassettes below this folder are checked. Secrets are what
the recorder would have masked. Unused is what the last test run in .playhead/ did not ask for. The exit
code is 1 if anything is found.`,
  options: {
    'max-age': {
      type: 'text',
      value: 'duration',
      summary: `Recordings that are older are found (default ${DEFAULT_MAX_AGE})`,
    },
    json: { type: 'flag', summary: 'Print findings as JSON, one a line' },
  },
  examples: [
    ['playhead cassette lint', 'Check all cassettes below this folder'],
    ['playhead cassette lint test/__cassettes__ --max-age 30d', 'Check some, and more strictly'],
  ],
  run({ options, positionals, terminal }) {
    const maxAge = options['max-age'] ?? DEFAULT_MAX_AGE
    const maxAgeMs = parseDuration(maxAge)
    if (maxAgeMs === undefined) throw new UsageError(`--max-age can't be "${maxAge}". Try 90d.`)
    const files = positionals.length > 0 ? positionals.flatMap(filesOf) : findCassettes('.')
    const uses = lastUses(terminal.environment.PLAYHEAD_DIR ?? '.playhead')
    const found = files.flatMap((file) =>
      lintCassette(readFileSync(file, 'utf8'), {
        nowMs: Date.now(),
        maxAgeMs,
        unused: uses.get(resolve(file))?.unused,
      }).map((finding) => ({ file, ...finding })),
    )
    for (const finding of found)
      terminal.print(options.json === true ? JSON.stringify(finding) : describe(finding))
    if (options.json !== true)
      terminal.note(
        files.length === 0
          ? 'No cassettes found.'
          : `${countOf(files.length, 'cassette')}, ${countOf(found.length, 'finding')}.`,
      )
    return found.length > 0 ? Promise.reject(new QuietExit(1)) : Promise.resolve()
  },
})

function describe({ file, line, sentence }: CassetteFinding & { file: string }): string {
  return `${file}:${line} ${sentence}`
}

function filesOf(given: string): string[] {
  try {
    return statSync(given).isDirectory() ? findCassettes(given) : [given]
  } catch (error) {
    throw new CliError(`There is no file or folder ${given}.`, { cause: error })
  }
}

const skipped = /^(?:node_modules|\..+)$/

/** Files that begin as cassettes do, and all in folders for cassettes: their first line may be what is broken. */
function findCassettes(folder: string, isForCassettes = folder.includes('__cassettes__')): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = relative('.', join(folder, entry.name)) || entry.name
      if (entry.isDirectory())
        return skipped.test(entry.name)
          ? []
          : findCassettes(path, isForCassettes || entry.name === '__cassettes__')
      if (!entry.name.endsWith('.jsonl')) return []
      return isForCassettes || isCassette(path) ? [path] : []
    })
}

function isCassette(path: string): boolean {
  return /^\{"v":\d+,"kind":"meta"/.test(readFileSync(path, 'utf8'))
}
