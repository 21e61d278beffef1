#!/usr/bin/env node
import { runCli } from './run-cli.ts'

// A reader may close the pipe early, as `| head` does.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    throw error
  })
}

const { stdin, stdout, stderr, env: environment } = process
const exitCode = await runCli(process.argv.slice(2), { stdin, stdout, stderr, environment })
// Not `exit()`: a server keeps running, and output may still be buffered. A command may have set its own code.
if (exitCode !== 0) process.exitCode = exitCode
