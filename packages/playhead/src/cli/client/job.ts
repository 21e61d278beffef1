import { formatCount } from '@playhead/model'
import { CliError } from '../terminal/cli-error.ts'
import { Progress, renderBar, runInterruptible } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { Api, Query } from './api.ts'

type JobLine<Result> = { done?: number; total?: number; result?: Result; error?: { message: string } }

export type Job = {
  path: string
  query?: Query
  /** Shown before the progress bar. */
  label: string
}

/** Starts a job that the server reports on line by line, shows its progress, and returns its result. */
export async function runJob<Result>(api: Api, job: Job, terminal: Terminal): Promise<Result> {
  const { path, query = {}, label } = job
  const progress = new Progress(terminal)
  try {
    return await runInterruptible(async (signal) => {
      for await (const line of readLines(api.stream(path, { method: 'POST', query, signal }))) {
        const { done = 0, total = 0, result, error } = parseLine<Result>(line)
        if (error !== undefined) throw new CliError(error.message)
        if (result !== undefined) return result
        progress.show(
          `${label}  ${renderBar(done, total)}  ${formatCount(done)} of ${formatCount(total)} sessions`,
        )
      }
      throw new CliError('The server stopped before the job was done. Check its log, then try again.')
    })
  } finally {
    progress.clear()
  }
}

async function* readLines(content: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of content) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield line
  }
  if (rest !== '') yield rest
}

function parseLine<Result>(line: string): JobLine<Result> {
  try {
    return JSON.parse(line) as JobLine<Result>
  } catch (error) {
    throw new CliError('The connection was lost before the job was done. Try again.', { cause: error })
  }
}
