import { createReadStream } from 'node:fs'
import { countOf, formatBytes } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { explainFileError, fileExists } from '../client/download.ts'
import { readSettings } from '../client/settings.ts'
import { uploadFile } from '../client/upload.ts'
import { CliError } from '../terminal/cli-error.ts'
import { printableJson } from '../terminal/printable-text.ts'
import { Progress, renderBar, runInterruptible } from '../terminal/progress.ts'
import { BackupArchive } from './backup-archive.ts'

type Restored = { parts: number; projects: number; sessions: number }

export const restoreCommand = defineCommand({
  name: 'restore',
  arguments: ['file.tar'],
  summary: 'Add the contents of a backup to the server',
  details: 'Existing data stays, and nothing is stored twice.',
  options: { json: { type: 'flag', summary: "Print the API's response" } },
  examples: [['playhead restore playhead.tar', 'Restore what "playhead backup" saved']],
  async run({ options, globals, positionals, terminal }) {
    const path = positionals[0] ?? ''
    const size = await checkBackup(path)
    const api = await Api.connect(readSettings(globals, terminal.environment), 'server')
    // Fails early when access is denied, before gigabytes are uploaded.
    await api.json('/api/health')
    const progress = new Progress(terminal)
    const restored = await runInterruptible((signal) =>
      uploadFile<Restored>(api, '/api/restore', {
        file: { path, size },
        contentType: 'application/x-tar',
        signal,
        onBytes: (sent) =>
          progress.show(`Restoring  ${renderBar(sent, size)}  ${formatBytes(sent)} of ${formatBytes(size)}`),
      }),
    ).finally(() => progress.clear())
    if (options.json === true) return terminal.print(printableJson(restored, 2))
    terminal.note(
      `Restored ${path}. The server now has ${countOf(restored.projects, 'project')} and ${countOf(restored.sessions, 'session')}.`,
    )
  },
})

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
