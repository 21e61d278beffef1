import { hostname } from 'node:os'
import { formatCost, shortSessionId, whyNotEditable } from '@playhead/model'
import packageJson from '../../../package.json' with { type: 'json' }
import { loadConfig } from '../../rerun/load-config.ts'
import { defineCommand, type OptionValues } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { readSettings, type Settings } from '../client/settings.ts'
import { CliError } from '../terminal/cli-error.ts'
import { plainLine } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { DevJobs, type PreparedJob } from './dev-jobs.ts'
import { DevLink, type DevJob } from './dev-link.ts'
import { findGapBefore } from './fork.ts'
import { liveOptions, readLiveOptions } from './live-options.ts'
import { prepareRun, requireKey } from './run-spec.ts'
import { findPassing } from './select-sessions.ts'

const DEFAULT_BUDGET_USD = 1

/** How often a job runs is up to the page. */
const { times: _times, ...options } = liveOptions

const devOptions = {
  config: {
    type: 'text',
    value: 'file',
    summary: 'The config, if it is not playhead.config.ts in this folder or above',
  },
  ...options,
  budget: {
    type: 'text',
    value: 'amount',
    summary: `The most that the live calls of one job may cost (default ${DEFAULT_BUDGET_USD}usd)`,
  },
} as const

export const devCommand = defineCommand({
  name: 'dev',
  summary: 'Run sessions again from the dashboard, with the agents of this folder',
  details: `Waits for "Run from here" on the replay page. Open the link that it prints to pair your browser with this terminal;
each link works once. Only the agents in playhead.config.ts can be started. A page chooses the session, the step and what to
change there. What runs may write and spend only what these options allow. With auth, it needs a key with the scope
admin. ^C ends every run.`,
  options: devOptions,
  examples: [
    ['playhead dev', 'Wait for jobs from the dashboard'],
    ['playhead dev --budget 0.2 --allow-writes send_mail', 'Let one action write, and spend less'],
  ],
  async run({ options: given, globals, terminal }) {
    const settings = readSettings(globals, terminal.environment)
    const dev = await openDev(given, { settings, terminal })
    const stop = stopOnSignals()
    let whom = 'a browser'
    await dev.serve(stop, (pairing) => {
      const link = terminal.paint('bold', pairingLink(settings.endpoint, pairing))
      terminal.print(`Pair ${whom}: ${link}`)
      whom = 'another browser'
    })
    terminal.note('Stopped. Nothing is running any more.')
  },
})

type Pairing = { code: string; project: string }

/** Reads the config, and serves jobs until the signal ends it. `onCode` gets each code that pairs somebody. */
export async function openDev(
  given: OptionValues<typeof devOptions>,
  { settings, terminal }: { settings: Settings; terminal: Terminal },
): Promise<{ serve(stop: AbortSignal, onCode: (pairing: Pairing) => void): Promise<void> }> {
  const { budget, concurrency, allowWrites } = readLiveOptions(given)
  const budgetUsd = budget?.limitUsd ?? DEFAULT_BUDGET_USD
  const config = await loadConfig(process.cwd(), { explicit: given.config })
  await requireKey(await Api.connect(settings, 'admin'))
  const agents = config.agents.map(({ name }) => name)
  const about = { agent: agents, host: hostname(), pid: String(process.pid), version: packageJson.version }
  const link = new DevLink(settings, about)
  const prepare = (job: DevJob) =>
    prepareJob(job, { configFile: config.file, allowWrites, terminal, settings })
  const jobs = new DevJobs({ terminal, link, prepare, concurrency, budgetUsd })
  return {
    async serve(stop, onCode) {
      terminal.print(
        [
          `Agents in ${plainLine(config.file)}: ${agents.map(plainLine).join(', ') || 'none'}`,
          `May write: ${allowWrites.map(plainLine).join(', ') || 'nothing'}. Budget: ${formatCost(budgetUsd)} a job. Runs at once: ${concurrency}.`,
        ].join('\n'),
      )
      try {
        for await (const { name, data } of link.events(stop, {
          lost: (reason) => terminal.note(`${plainLine(reason)} Trying again …`),
          back: () => terminal.note('Connected again.'),
        })) {
          if (name === 'job') jobs.add(data)
          else if (name === 'cancel') jobs.cancel(data.jobId)
          else onCode(data)
        }
      } finally {
        await jobs.stop()
      }
    },
  }
}

type JobRights = {
  configFile: string
  allowWrites: readonly string[]
  terminal: Terminal
  settings: Settings
}

/** The terminal reads the session itself, with its own key: the page only names it. */
async function prepareJob(
  { sessionId, stepId, edit = {} }: DevJob,
  { configFile, allowWrites, terminal, settings }: JobRights,
): Promise<PreparedJob> {
  const source = { typed: sessionId, configFile, isForced: true, terminal, settings }
  const { config: _config, recorded, ...parts } = await prepareRun(source)
  const step = parts.parent.steps.find(({ id }) => id === stepId)
  if (step === undefined)
    throw new CliError(`The step is not part of what the agent did in ${shortSessionId(sessionId)}.`)
  const problem = whyNotEditable(parts.parent, step, edit) ?? findGapBefore(parts.parent, step)
  if (problem !== undefined) throw new CliError(problem)
  const tapes = await findPassing(await Api.connect(settings, 'read'), parts)
  return {
    spec: { ...parts, tapes, lane: 'fork', onMiss: 'fail', allowWrites },
    step,
    number: recorded.steps.findIndex(({ id }) => id === stepId) + 1,
  }
}

/** The code is behind the #, which browsers do not send: it gets into no log. */
function pairingLink(endpoint: string, { code, project }: { code: string; project: string }): string {
  const query = project === 'default' ? '' : `?project=${encodeURIComponent(project)}`
  return `${endpoint}/pair${query}#${plainLine(code)}`
}

/** Aborted by the first ^C. The second ends the process at once, and its runs with it. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(130)
      stop.abort()
    })
  return stop.signal
}
