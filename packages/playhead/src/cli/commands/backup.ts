import { formatBytes } from '@playhead/model'
import { Api } from '../client/api.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import { defineCommand } from '../arguments/command.ts'
import { untilInterrupted } from '../terminal/progress.ts'
import { Progress } from '../terminal/progress.ts'
import { fileExists, saveFile } from '../client/download.ts'
import { readSettings } from '../client/settings.ts'
import { BACKUP_LAST_ENTRY, TarCheck } from './backup-archive.ts'

export const backupCommand = defineCommand({
  name: 'backup',
  summary: 'everything on the server, of all projects, as one file',
  details: 'The server goes on meanwhile. The file appears under its name when it is whole.',
  options: {
    output: { type: 'text', short: 'o', value: 'file.tar', summary: 'where to write it' },
    force: { type: 'flag', summary: 'replace a file that is there' },
  },
  examples: [
    ['playhead backup -o playhead.tar', ''],
    [
      'playhead backup -o playhead.tar --force --endpoint https://playhead.example',
      'of another machine, again',
    ],
  ],
  async run({ options, globals, terminal }) {
    const path = options.output
    if (path === undefined)
      throw new UsageError('backup needs a file to write: playhead backup -o playhead.tar')
    if ((await fileExists(path)) && options.force !== true)
      throw new CliError(`${path} is there already. Give --force to replace it, or another name.`)
    const api = await Api.connect(readSettings(globals, terminal.environment), 'server')
    const progress = new Progress(terminal)
    const tar = new TarCheck()
    let bytes = 0
    const size = await untilInterrupted((signal) =>
      saveFile(path, api.stream('/api/backup', { signal }), {
        signal,
        onChunk(chunk) {
          tar.add(chunk)
          bytes += chunk.length
          progress.show(`Backing up … ${formatBytes(bytes)}`)
        },
        check() {
          if (!tar.endsWith(BACKUP_LAST_ENTRY))
            throw new CliError(
              `The backup is cut off after ${formatBytes(bytes)}, so nothing was kept of it. The output of the server says why; then try again.`,
            )
        },
      }),
    ).finally(() => progress.clear())
    terminal.note(
      `The backup is in ${path} (${formatBytes(size)}). To add it to a server: playhead restore ${path}`,
    )
  },
})
