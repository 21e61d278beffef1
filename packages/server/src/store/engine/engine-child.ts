import { fork, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { EngineOptions } from './engine-main.ts'

let prepared: ChildProcess | undefined

/**
 * Starts the engine process before anyone has said which folder it opens: it loads chDB while the server loads its own modules.
 * It touches no files, and ends with the server. Returns its pid.
 */
export function prepareEngine(): number | undefined {
  prepared ??= forkChild()
  // Until the server needs it, it keeps nothing alive: the server may fail before.
  for (const handle of handlesOf(prepared)) handle?.unref()
  return prepared.pid
}

/** Starts the engine process, or takes the one that is prepared. Tests use it too, to get an engine behind a port. */
export function forkEngine(options: EngineOptions): ChildProcess {
  const child = takePrepared() ?? forkChild()
  child.send({ open: options })
  return child
}

function takePrepared(): ChildProcess | undefined {
  const child = prepared
  prepared = undefined
  // If it has ended already, why is found out by starting another one.
  if (child === undefined || child.exitCode !== null || child.signalCode !== null || !child.connected)
    return undefined
  for (const handle of handlesOf(child)) handle?.ref()
  return child
}

function handlesOf(child: ChildProcess) {
  return [child, child.channel, child.stderr as Socket | null]
}

function forkChild(): ChildProcess {
  return fork(
    new URL(`./engine-main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
    [],
    {
      env: {
        // The engine's allocator returns memory after a second instead of five: each insert needs as much as the last one.
        JE_MALLOC_CONF: 'prof:false,dirty_decay_ms:1000',
        ...process.env,
        // Statements run in libuv's thread pool. With the default of four threads, four slow ones would block everything.
        UV_THREADPOOL_SIZE: '24',
      },
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    },
  )
}
