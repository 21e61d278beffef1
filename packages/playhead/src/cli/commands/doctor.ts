import { defineCommand } from '../arguments/command.ts'
import { readSettings } from '../client/settings.ts'
import { QuietExit } from '../terminal/cli-error.ts'
import { printableJson } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { checkAccess, checkFolder, checkNode, checkServer, checkSpan, type Check } from './doctor-checks.ts'

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Check that everything works: Node, folder, disk, server, clock, key, a test span',
  details: `Sends a span to the server, reads it back and removes it. The folder and the disk are checked if the server is
on this machine. Exits with 1 if something is wrong.`,
  options: {
    data: {
      type: 'text',
      value: 'folder',
      summary: "The server's data folder (PLAYHEAD_DATA; default ~/.playhead)",
    },
    json: { type: 'flag', summary: 'Print JSON: { "ok": …, "checks": [{ "name", "ok", "detail", "fix" }] }' },
  },
  examples: [
    ['playhead doctor', 'Why do I see no sessions?'],
    ['playhead doctor --endpoint https://playhead.example.com --api-key ph_…', 'From where an agent runs'],
  ],
  async run({ options, globals, terminal }) {
    const settings = readSettings(globals, terminal.environment)
    const checks: Check[] = []
    const add = (...found: Check[]) => {
      checks.push(...found)
      if (options.json !== true) for (const check of found) printCheck(check, terminal)
    }
    add(checkNode())
    if (isLocal(settings.endpoint))
      add(...(await checkFolder(options.data ?? terminal.environment.PLAYHEAD_DATA)))
    const { checks: server, isReached } = await checkServer(settings)
    add(...server)
    if (isReached) {
      add(...(await checkAccess(settings)))
      add(await checkSpan(settings))
    }
    const ok = checks.every((check) => check.ok)
    if (options.json === true) terminal.print(printableJson({ ok, checks }, 2))
    if (!ok) throw new QuietExit(1)
  },
})

function isLocal(endpoint: string): boolean {
  return /^(localhost|127\..*|\[::1\])$/.test(new URL(endpoint).hostname)
}

const NAME_WIDTH = 11

function printCheck({ name, ok, detail, fix }: Check, terminal: Terminal): void {
  const { paint } = terminal
  terminal.print(`${ok ? paint('green', '✓') : paint('red', '✗')} ${name.padEnd(NAME_WIDTH)}${detail}`)
  if (fix !== undefined) terminal.print(`${' '.repeat(NAME_WIDTH + 2)}→ ${fix}`)
}
