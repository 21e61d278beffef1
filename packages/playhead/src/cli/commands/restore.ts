import { countOf, formatBytes } from '@playhead/model'
import { createReadStream } from 'node:fs'
import { Api } from '../client/api.ts'
import { CliError } from '../terminal/cli-error.ts'
import { defineCommand } from '../arguments/command.ts'
import { untilInterrupted } from '../terminal/progress.ts'
import { printableJson } from '../terminal/printable-text.ts'
import { Progress, renderBar } from '../terminal/progress.ts'
import { explainFileError, fileExists } from '../client/download.ts'
import { readSettings } from '../client/settings.ts'
import { BACKUP_FIRST_ENTRY, BACKUP_LAST_ENTRY, TarCheck } from './backup-archive.ts'
import { uploadFile } from '../client/upload.ts'

type Restored = { parts: number; projects: number; sessions: number }

export const restoreCommand = defineCommand({
  name: 'restore',
  arguments: ['file.tar'],
  summary: 'adds what a backup holds to the server',
  details: 'What is on the server stays, and nothing is there twice.',
  options: { json: { type: 'flag', summary: 'as the API answers' } },
  examples: [['playhead restore playhead.tar', 'made by: playhead backup -o playhead.tar']],
  async run({ options, globals, positionals, terminal }) {
    const path = positionals[0] ?? ''
    const size = await checkBackup(path)
    const api = await Api.connect(readSettings(globals, terminal.environment), 'server')
    // Whoever may not restore is told before gigabytes are sent.
    await api.json('/api/health')
    const progress = new Progress(terminal)
    const restored = await untilInterrupted((signal) =>
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
      `${path} is restored. The server now has ${countOf(restored.projects, 'project')} and ${countOf(restored.sessions, 'session')}.`,
    )
  },
})

/** A file that is cut off is refused before any of it is sent. Answers with its size. */
async function checkBackup(path: string): Promise<number> {
  if (!(await fileExists(path))) throw new CliError(`There is no file ${path}.`)
  const tar = new TarCheck()
  let size = 0
  try {
    for await (const chunk of createReadStream(path)) {
      tar.add(chunk as Buffer)
      size += (chunk as Buffer).length
    }
  } catch (error) {
    throw explainFileError(error, path)
  }
  if (tar.firstEntry !== BACKUP_FIRST_ENTRY)
    throw new CliError(`${path} is not a backup of Playhead. Make one with: playhead backup -o playhead.tar`)
  if (!tar.endsWith(BACKUP_LAST_ENTRY))
    throw new CliError(`${path} is cut off; nothing was restored. Make the backup again, or copy it again.`)
  return size
}
