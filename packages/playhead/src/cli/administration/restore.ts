import { createReadStream } from 'node:fs'
import { countOf, formatBytes } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { explainFileError, fileExists } from '../client/download.ts'
import { readSettings } from '../client/settings.ts'
import { uploadFile } from '../client/upload.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import { printableJson, plainLine } from '../terminal/printable-text.ts'
import { Progress, renderBar, runInterruptible } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { BackupArchive } from './backup-archive.ts'

/** What a restore adds and replaces. */
type Plan = {
  backupCreatedAt: string
  projects: { total: number; added: string[]; replaced: string[] }
  sessions: { total: number; added: number }
  steps: { total: number; added: number; replaced: number }
  logs: number
  monitors?: number
  destinations?: number
  objects: number
  keys: { total: number; isIncluded: boolean; list: { name: string; project: string; scopes: string[] }[] }
}

export const restoreCommand = defineCommand({
  name: 'restore',
  arguments: ['file.tar…'],
  summary: 'Add the contents of a backup to the server, or undo that',
  details: `The server checks every row first and prints what it will add and replace; --yes restores it. Existing data stays, and
nothing is stored twice. Keys are left out, because their secrets would work on this server. The last restore can be undone.`,
  options: {
    yes: { type: 'flag', short: 'y', summary: 'Restore it' },
    'dry-run': { type: 'flag', summary: 'Only print what would be restored' },
    'with-keys': { type: 'flag', summary: 'Also restore keys: their secrets work on this server then' },
    undo: { type: 'flag', summary: 'Undo the last restore (no file)' },
    json: { type: 'flag', summary: "Print the API's response" },
  },
  examples: [
    ['playhead restore playhead.tar', 'What "playhead backup" saved, and what restoring it would do'],
    ['playhead restore playhead.tar --yes', 'Restore it'],
    ['playhead restore --undo --yes', 'Remove what the last restore added, and bring back what it replaced'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const settings = readSettings(globals, terminal.environment)
    const isConfirmed = options.yes === true
    if (options.undo === true) {
      if (positionals.length > 0) throw new UsageError('Use either a file or --undo, not both.')
      const api = await Api.connect(settings, 'server')
      return undo(api, terminal, { isConfirmed, isJson: options.json === true })
    }
    const [path, ...others] = positionals
    if (path === undefined || others.length > 0)
      throw new UsageError('Pass the file of one backup: playhead restore playhead.tar')
    const file = { path, size: await checkBackup(path) }
    const api = await Api.connect(settings, 'server')
    // Fails early when access is denied, before gigabytes are uploaded.
    await api.json('/api/health')
    const isDryRun = options['dry-run'] === true || !isConfirmed
    const query = `withKeys=${options['with-keys'] === true}&dryRun=`
    const checked = await upload(api, terminal, { file, path: `/api/restore?${query}true`, verb: 'Checking' })
    if (isDryRun && options.json === true) return terminal.print(printableJson(checked, 2))
    if (options.json !== true) for (const line of describePlan(checked.plan)) terminal.print(line)
    if (options['dry-run'] === true) return
    if (!isConfirmed) throw new UsageError('Nothing was restored. To restore it, add --yes.')
    const restored = await upload(api, terminal, {
      file,
      path: `/api/restore?${query}false`,
      verb: 'Restoring',
    })
    if (options.json === true) return terminal.print(printableJson(restored, 2))
    terminal.note(`Restored ${path}. To undo it: playhead restore --undo --yes`)
  },
})

async function upload(
  api: Api,
  terminal: Terminal,
  { file, path, verb }: { file: { path: string; size: number }; path: string; verb: string },
): Promise<{ plan: Plan }> {
  const progress = new Progress(terminal)
  const { size } = file
  return runInterruptible((signal) =>
    uploadFile<{ plan: Plan }>(api, path, {
      file,
      contentType: 'application/x-tar',
      signal,
      onBytes: (sent) =>
        progress.show(`${verb}  ${renderBar(sent, size)}  ${formatBytes(sent)} of ${formatBytes(size)}`),
    }),
  ).finally(() => progress.clear())
}

async function undo(
  api: Api,
  terminal: Terminal,
  { isConfirmed, isJson }: { isConfirmed: boolean; isJson: boolean },
): Promise<void> {
  const { last } = await api.json<{ last: { restoredAt: string; plan: Plan } | null }>('/api/restore')
  if (last === null) throw new CliError('There is no restore to undo: none was made, or the last was undone.')
  if (!isConfirmed) {
    terminal.print(`The restore of ${last.restoredAt} added or replaced:`)
    for (const line of describePlan(last.plan)) terminal.print(line)
    throw new UsageError('Nothing was undone. To undo it, add --yes.')
  }
  const undone = await api.json<{ undone: Plan }>('/api/restore/undo', { method: 'POST' })
  if (isJson) return terminal.print(printableJson(undone, 2))
  terminal.note(
    `Undone: what the restore of ${last.restoredAt} added is removed, and what it replaced is back.`,
  )
}

function describePlan({ backupCreatedAt, projects, sessions, steps, keys, ...plan }: Plan): string[] {
  const lines = [
    `Backup of ${plainLine(backupCreatedAt)}`,
    `  projects  ${projects.total} (${projects.added.length} new)`,
    `  sessions  ${sessions.total} (${sessions.added} new)`,
    `  steps     ${steps.total} (${steps.added} new, ${steps.replaced} replaced)`,
    `  logs      ${countOf(plan.logs, 'record')}`,
    `  objects   ${plan.objects}`,
    `  watch     ${countOf(plan.monitors ?? 0, 'monitor')}, ${countOf(plan.destinations ?? 0, 'destination')}`,
    keys.isIncluded
      ? `  keys      ${keys.total}, which work on this server afterwards:`
      : `  keys      ${keys.total}, left out (--with-keys restores them)`,
  ]
  if (keys.isIncluded)
    for (const { name, project, scopes } of keys.list)
      lines.push(`              ${plainLine(`${name} (project ${project}: ${scopes.join(', ')})`)}`)
  if (projects.replaced.length > 0)
    lines.push(`Replaces the settings of: ${plainLine(projects.replaced.join(', '))}`)
  return lines
}

/** Rejects an incomplete file before anything is sent. Returns its size. */
async function checkBackup(path: string): Promise<number> {
  if (!(await fileExists(path))) throw new CliError(`No such file: ${path}`)
  const archive = new BackupArchive()
  let size = 0
  try {
    for await (const chunk of createReadStream(path)) {
      archive.add(chunk as Buffer)
      size += (chunk as Buffer).length
    }
  } catch (error) {
    throw explainFileError(error, path)
  }
  if (!archive.isBackup)
    throw new CliError(`${path} is not a Playhead backup. Make one with: playhead backup -o playhead.tar`)
  if (!archive.isComplete)
    throw new CliError(`${path} is incomplete; nothing was restored. Make or copy the backup again.`)
  return size
}
