import { formatCount } from '@playhead/model'
import type { Api, Query } from './api.ts'
import { CliError } from '../terminal/cli-error.ts'
import { untilInterrupted } from '../terminal/progress.ts'
import { Progress, renderBar } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'

type WorkLine<Result> = { done?: number; total?: number; result?: Result; error?: { message: string } }

export type Work = {
  path: string
  query?: Query
  /** What is being done, before the bar. */
  label: string
}

/** Starts work that the server tells of line by line, shows how far it is, and answers with its result. */
export async function watchWork<Result>(api: Api, work: Work, terminal: Terminal): Promise<Result> {
  const { path, query = {}, label } = work
  const progress = new Progress(terminal)
  try {
    return await untilInterrupted(async (signal) => {
      for await (const line of readLines(api.stream(path, { method: 'POST', query, signal }))) {
        const { done = 0, total = 0, result, error } = parseLine<Result>(line)
        if (error !== undefined) throw new CliError(error.message)
        if (result !== undefined) return result
        progress.show(
          `${label}  ${renderBar(done, total)}  ${formatCount(done)} of ${formatCount(total)} sessions`,
        )
      }
      throw new CliError(
        'The server stopped answering before it was done. Its output may say why; then try again.',
      )
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

function parseLine<Result>(line: string): WorkLine<Result> {
  try {
    return JSON.parse(line) as WorkLine<Result>
  } catch (error) {
    throw new CliError('The connection broke before the server was done. Try again.', { cause: error })
  }
}
