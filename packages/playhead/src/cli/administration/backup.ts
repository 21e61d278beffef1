import { formatBytes } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { fileExists, saveFile } from '../client/download.ts'
import { readSettings } from '../client/settings.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import { Progress, runInterruptible } from '../terminal/progress.ts'
import { BackupArchive } from './backup-archive.ts'

export const backupCommand = defineCommand({
  name: 'backup',
  summary: 'Save everything on the server, all projects included, to one file',
  details: 'The server keeps running. The file appears under its name only when it is complete.',
  options: {
    output: { type: 'text', short: 'o', value: 'file.tar', summary: 'File to write (required)' },
    force: { type: 'flag', summary: 'Overwrite an existing file' },
    'with-secrets': {
      type: 'flag',
      summary: 'Also save the secrets of alert destinations: tokens, passwords, addresses of webhooks',
    },
  },
  examples: [
    ['playhead backup -o playhead.tar', 'Back up the local server'],
    [
      'playhead backup -o playhead.tar --force --endpoint https://playhead.example',
      'Back up another server, overwriting the file',
    ],
  ],
  async run({ options, globals, terminal }) {
    const path = options.output
    if (path === undefined)
      throw new UsageError('backup needs an output file: playhead backup -o playhead.tar')
    if ((await fileExists(path)) && options.force !== true)
      throw new CliError(`${path} already exists. Pass --force to overwrite it.`)
    const api = await Api.connect(readSettings(globals, terminal.environment), 'server')
    const progress = new Progress(terminal)
    const archive = new BackupArchive()
    let bytes = 0
    const size = await runInterruptible((signal) =>
      saveFile(
        path,
        api.stream(`/api/backup${options['with-secrets'] === true ? '?withSecrets=true' : ''}`, { signal }),
        {
          signal,
          onChunk(chunk) {
            archive.add(chunk)
            bytes += chunk.length
            progress.show(`Backing up … ${formatBytes(bytes)}`)
          },
          check() {
            if (!archive.isComplete)
              throw new CliError(
                `The backup ended early, after ${formatBytes(bytes)}, and was discarded. Check the server's log, then try again.`,
              )
          },
        },
      ),
    ).finally(() => progress.clear())
    terminal.note(
      `Saved the backup to ${path} (${formatBytes(size)}). To restore it: playhead restore ${path}`,
    )
  },
})
