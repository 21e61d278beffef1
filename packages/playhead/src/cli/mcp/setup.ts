import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { defineCommand } from '../arguments/command.ts'
import { checkChoice } from '../arguments/option-values.ts'
import { readSettings } from '../client/settings.ts'
import { CliError, QuietExit } from '../terminal/cli-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { codingAgents, SKILL } from './clients.ts'

export const setupCommand = defineCommand({
  name: 'setup',
  arguments: ['agent'],
  summary: 'Configure a coding agent to read sessions with playhead mcp',
  details: `<agent> is ${Object.keys(codingAgents).join(', ')}. Adds the server to the agent's configuration, which keeps its comments
and everything else in it, and a short skill that says when to use the tools. Shows what it will write and asks first.
What was there is copied beside it. A key is never written: the configuration names PLAYHEAD_API_KEY.`,
  options: { yes: { type: 'flag', summary: 'Write without asking' } },
  examples: [
    ['playhead setup claude-code', 'Adds .mcp.json and a skill to this folder'],
    ['playhead setup codex --yes', 'Adds it to ~/.codex/config.toml without asking'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const [name = ''] = positionals
    checkChoice('agent', name, Object.keys(codingAgents))
    const { title, config, merge, skill } = codingAgents[name]!
    const settings = readSettings(globals, terminal.environment)
    const path = config(terminal.environment)
    const before = await readText(path)
    const files = [
      { path, before, after: mergeInto(path, () => merge(before ?? '', settings)) },
      {
        path: skill(terminal.environment),
        before: await readText(skill(terminal.environment)),
        after: SKILL,
      },
    ].filter(({ before: old, after }) => old !== after)
    if (files.length === 0) return terminal.note(`${title} is set up already: ${path}.`)
    for (const file of files) terminal.print(describe(file, terminal))
    if (options.yes !== true && !(await isAgreed(terminal))) throw new QuietExit(1)
    for (const { path: target, before: old, after } of files) {
      await mkdir(dirname(target), { recursive: true })
      if (old !== undefined) terminal.note(`Copied what was there to ${await backUp(target)}.`)
      await writeFile(target, after)
      terminal.note(`Wrote ${target}.`)
    }
    terminal.note(`Restart ${title}, then ask: what failed in the last day?`)
  },
})

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new CliError(`${path} can't be read: ${error.message}`)
  })
}

function mergeInto(path: string, merge: () => string): string {
  try {
    return merge()
  } catch (error) {
    throw new CliError(
      `${path} is not JSON: ${error instanceof Error ? error.message : String(error)}. Mend it, and run this again. Nothing was written.`,
    )
  }
}

type Change = { path: string; before: string | undefined; after: string }

/** The lines that are new are marked; the others are there already. */
function describe({ path, before, after }: Change, { paint }: Terminal): string {
  const old = new Set((before ?? '').split('\n'))
  const lines = after
    .trimEnd()
    .split('\n')
    .map((line) => (old.has(line) ? paint('dim', `  ${line}`) : paint('green', `+ ${line}`)))
  return [paint('bold', `${path}${before === undefined ? ' (new)' : ''}`), ...lines, ''].join('\n')
}

async function isAgreed(terminal: Terminal): Promise<boolean> {
  if (terminal.stdin.isTTY !== true) {
    terminal.note('Nothing was written. To write it, add --yes.')
    return false
  }
  const prompt = createInterface({ input: terminal.stdin, output: terminal.stderr })
  const answer = await prompt.question('Write this? [y/N] ').finally(() => prompt.close())
  return /^y(?:es)?$/i.test(answer.trim())
}

async function backUp(path: string): Promise<string> {
  let copy = `${path}.before-playhead`
  for (let number = 2; existsSync(copy); number += 1) copy = `${path}.before-playhead-${number}`
  await copyFile(path, copy)
  return copy
}
