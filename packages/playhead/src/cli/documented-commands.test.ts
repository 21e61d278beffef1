import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import * as playhead from '../index.ts'
import { globalOptions } from './arguments/command.ts'
import { parseArguments } from './arguments/parse-arguments.ts'
import { commands } from './run-cli.ts'

const commandPattern = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx |npm run --silent )?playhead (?:-- )?([a-z-].*)$/
const root = fileURLToPath(new URL('../../../..', import.meta.url))
const pages = ['README.md', ...globSync('docs/*.md', { cwd: root }).toSorted()].map((name) => ({
  name,
  text: readFileSync(join(root, name), 'utf8'),
}))

test.each(pages)('$name names only commands and options that exist', ({ text }) => {
  expect(commandLines(text).flatMap(problemsOf)).toEqual([])
})

test('the pages name commands with their options', () => {
  const lines = pages.flatMap(({ text }) => commandLines(text))

  expect(lines).toContain('check --max-failure-rate 0.05 --max-p95 8s --tag support --since 24h')
  expect(lines).toContain('retention')
  expect(problemsOf('export --fromat html last')).toEqual(['export has no option --fromat'])
  expect(problemsOf('exprot last')).toEqual([expect.stringContaining('Unknown command "exprot"')])
})

test.each(pages)('$name uses only functions of the SDK that exist', ({ text }) => {
  const code = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block]) => block!).join('')
  const used = [...code.matchAll(/\bplayhead\.(\w+)[(<]/g)].map(([, name]) => name!)

  expect(used.filter((name) => !(name in playhead))).toEqual([])
})

test.each(pages)('$name links only to files that exist', ({ name, text }) => {
  const targets = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, target]) => target!)

  expect(targets.filter((target) => !existsSync(join(root, dirname(name), target)))).toEqual([])
})

/** What stands behind `playhead` in code, without comments, and the commands that a sentence lists after one. */
function commandLines(text: string): string[] {
  const code = [...text.matchAll(/`([^`\n]+)`/g), ...text.matchAll(/^(.*\bplayhead .*)$/gm)]
  const lines = code.flatMap(([, line]) => {
    const found = commandPattern.exec(line!)
    return found === null ? [] : [found[1]!.replace(/\s+#.*$/, '').trim()]
  })
  const listed = [...text.matchAll(/`playhead [a-z-]+`((?:(?:,|;| and) `[a-z-]+`)+)/g)]
  return [...lines, ...listed.flatMap(([, names]) => names!.match(/[a-z-]+(?=`)/g) ?? [])]
}

function problemsOf(line: string): string[] {
  const words = line.split(/\s+/)
  const first = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
  const names = first === -1 ? words : words.slice(0, first)
  try {
    const parsed = parseArguments([...names.slice(0, 2), '--help'], commands)
    const known = parsed.kind === 'help' ? parsed.commands : []
    return words
      .flatMap((word) => /^--([a-z][a-z0-9-]*)/.exec(word)?.[1] ?? [])
      .filter((option) => !(option in globalOptions) && !known.some(({ options }) => option in options))
      .map((option) => `${names[0]} has no option --${option}`)
  } catch (error) {
    return [`${line}: ${error instanceof Error ? error.message : String(error)}`]
  }
}
