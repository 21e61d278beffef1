#!/usr/bin/env node
import { findNodeProblem } from '../runtime/node-version.ts'

// A reader may close the pipe early, as `| head` does.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    throw error
  })
}

const problem = findNodeProblem(process.versions)
if (problem === undefined) await run()
else {
  process.stderr.write(`playhead: The command line ${problem}.\n`)
  process.exitCode = 1
}

async function run(): Promise<void> {
  // Loaded only after the version check, because an older Node might not be able to parse it.
  const { runCli } = await import('./run-cli.ts')
  const { stdin, stdout, stderr, env: environment } = process
  const exitCode = await runCli(process.argv.slice(2), { stdin, stdout, stderr, environment })
  // Not `exit()`: a server keeps running, and output may still be buffered. A command may have set its own code.
  if (exitCode !== 0) process.exitCode = exitCode
}
