#!/usr/bin/env node
import { runCli } from './run-cli.ts'

// Whoever reads the output may stop reading, as `| head` does: that is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    throw error
  })
}

const { stdin, stdout, stderr, env: environment } = process
const exitCode = await runCli(process.argv.slice(2), { stdin, stdout, stderr, environment })
// Not `exit()`: a server goes on, and what was written may still be on its way. A command may have set its own code.
if (exitCode !== 0) process.exitCode = exitCode
