import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { SessionSummary } from '@playhead/model'
import type { DevSource, Runner } from '../api/dev.ts'
import { CodeBlock } from '../ui/data/code-block.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { devCommand, type Server } from './fork-command.ts'

const LOOKED_EVERY_MS = 2_000

type RunnerState = { data: Runner | undefined; isLoading: boolean; isPaired: boolean; error: Error | null }

/** The terminal that this browser is paired with, as soon as it is connected. */
export function useRunner(dev: DevSource | undefined): RunnerState {
  const query = useQuery({
    queryKey: ['dev'],
    queryFn: ({ signal }) => dev!.read(signal),
    enabled: dev !== undefined,
    refetchInterval: LOOKED_EVERY_MS,
    select: ({ runners: [newest] }) => newest ?? null,
  })
  return {
    data: query.data ?? undefined,
    isLoading: query.isLoading,
    isPaired: dev?.isPaired() === true,
    error: query.error,
  }
}

type RunnerHelpProps = { session: SessionSummary; runner: RunnerState; server: Server; children: ReactNode }

/** Without a terminal: the command to run, and how to connect one. */
export function RunnerHelp({ session: { name, demo }, runner, server, children }: RunnerHelpProps) {
  if (runner.error !== null) return <ErrorNotice error={runner.error} />
  return (
    <div className="fork-help">
      <section>
        <h3>Run it in your agent’s project</h3>
        {children}
      </section>
      <section>
        <h3>{runner.isPaired ? 'Your terminal is gone' : 'Or run it from here'}</h3>
        <p>
          {runner.isPaired
            ? 'This browser is paired, but playhead dev is not connected. Start it again; if it prints a new link, open it here.'
            : 'Start this beside your agent and open the link that it prints in this browser. This dialog then has a Run button.'}
        </p>
        <CodeBlock text={devCommand(server)} label="command that connects a terminal" />
      </section>
      <details>
        <summary>How the agent is started: playhead.config.ts</summary>
        <CodeBlock text={configFor(name)} label="configuration" />
        {demo && (
          <p className="dim">
            This session is from the demo. Its agent is <code>examples/support-agent</code> in Playhead’s
            repository, with this file.
          </p>
        )}
      </details>
    </div>
  )
}

function configFor(name: string): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
  return `import { defineConfig } from 'playhead'
import { runAgent } from './agent.ts'

export default defineConfig({
  agents: { ${key}: { run: (input) => runAgent(input.text) } },
})`
}
