// Loaded by `--require` before anything else, in the process of a re-run, its worker threads and its child processes.
import { readRunSettings } from '../runtime/run-settings.ts'
import { raiseWall } from '../tape/play-tape.ts'

const settings = readRunSettings()
if (settings?.isStrict === true) {
  // Programs that the agent may start are behind the same wall.
  const own = `--require ${JSON.stringify(import.meta.filename)}`
  const given = process.env.NODE_OPTIONS ?? ''
  if (!given.includes(own)) process.env.NODE_OPTIONS = [given, ...sourceOptions(), own].join(' ').trim()
  raiseWall(settings)
}

/** In the repository, programs run from source. */
function sourceOptions(): string[] {
  return import.meta.url.endsWith('.ts')
    ? ['--conditions=playhead-source', '--disable-warning=ExperimentalWarning']
    : []
}
