import { safeForLog } from '@playhead/model'
import { ConfigError } from '../rerun/config-file.ts'
import packageJson from '../../package.json' with { type: 'json' }
import type { Command } from './arguments/command.ts'
import { renderCommandHelp, renderOverview } from './arguments/help.ts'
import { parseArguments, type Parsed } from './arguments/parse-arguments.ts'
import { auditCommand } from './administration/audit.ts'
import { backupCommand } from './administration/backup.ts'
import { checkCommand } from './commands/check.ts'
import { deleteCommand } from './commands/delete.ts'
import { diffCommand } from './commands/diff.ts'
import { doctorCommand } from './commands/doctor.ts'
import { exportCommand } from './commands/export.ts'
import { importCommand } from './commands/import.ts'
import { keysCreateCommand, keysListCommand, keysRevokeCommand } from './administration/keys.ts'
import { loginsEndCommand, loginsListCommand } from './administration/logins.ts'
import { lsCommand } from './commands/ls.ts'
import { openCommand } from './commands/open.ts'
import {
  pricesListCommand,
  pricesRemoveCommand,
  pricesSetCommand,
  quotaCommand,
  retentionCommand,
} from './administration/project-settings.ts'
import { peopleListCommand, peopleSetCommand } from './administration/people.ts'
import { projectsCreateCommand, projectsListCommand } from './administration/projects.ts'
import { issueCommands } from './commands/issues.ts'
import { monitorCommands } from './monitors/monitors.ts'
import { rederiveCommand } from './administration/rederive.ts'
import { reportCommand } from './commands/report.ts'
import { repriceCommand } from './administration/reprice.ts'
import { restoreCommand } from './administration/restore.ts'
import { loginLinkCommand, serveCommand } from './commands/serve.ts'
import { shareCommand, sharesCommand, unshareCommand } from './commands/share.ts'
import { showCommand } from './commands/show.ts'
import { tagCommand } from './commands/tag.ts'
import { forkCommand } from './rerun/fork.ts'
import { rerunCommand } from './rerun/rerun.ts'
import { cassetteLintCommand } from './rerun/cassette.ts'
import { devCommand } from './rerun/dev.ts'
import { mcpCommand } from './mcp/mcp.ts'
import { setupCommand } from './mcp/setup.ts'
import { toTestCommand } from './rerun/to-test.ts'
import { CliError, InterruptedError, QuietExit } from './terminal/cli-error.ts'
import { createTerminal, type Streams } from './terminal/terminal.ts'

/** Runs the command line and returns the exit code: 0 success, 1 failure, 2 invalid usage. */
export async function runCli(args: readonly string[], streams: Streams): Promise<number> {
  try {
    await run(parseArguments(args, commands), streams, args)
    return 0
  } catch (error) {
    return report(error, streams)
  }
}

async function run(parsed: Parsed, streams: Streams, args: readonly string[]): Promise<void> {
  const terminal = createTerminal(streams, args.includes('--no-color'))
  switch (parsed.kind) {
    case 'version':
      return terminal.print(packageJson.version)
    case 'help':
      return terminal.print(
        parsed.commands === commands
          ? renderOverview(commands, terminal.paint)
          : renderCommandHelp(parsed.commands, terminal.paint),
      )
    case 'run': {
      const { command, options, globals, positionals } = parsed
      return command.run({ options, globals, positionals, terminal })
    }
  }
}

/** Prints the message of an expected error; anything else is a bug and is shown with its stack. */
function report(error: unknown, { stderr }: Streams): number {
  if (error instanceof CliError) {
    const isQuiet = error instanceof InterruptedError || error instanceof QuietExit
    if (!isQuiet) stderr.write(`${safeForLog(`playhead: ${error.message}`)}\n`)
    return error.exitCode
  }
  if (error instanceof ConfigError) {
    stderr.write(`${safeForLog(`playhead: ${error.message}`)}\n`)
    return 2
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  stderr.write(
    `playhead: Unexpected error. This is a bug in playhead; please report it.\n${safeForLog(text)}\n`,
  )
  return 1
}

/** All commands, in the order the help lists them. */
export const commands: readonly Command[] = [
  serveCommand,
  loginLinkCommand,
  doctorCommand,
  lsCommand,
  showCommand,
  diffCommand,
  openCommand,
  rerunCommand,
  forkCommand,
  devCommand,
  mcpCommand,
  setupCommand,
  exportCommand,
  importCommand,
  tagCommand,
  shareCommand,
  sharesCommand,
  unshareCommand,
  deleteCommand,
  ...issueCommands,
  ...monitorCommands,
  checkCommand,
  reportCommand,
  toTestCommand,
  cassetteLintCommand,
  keysListCommand,
  keysCreateCommand,
  keysRevokeCommand,
  loginsListCommand,
  loginsEndCommand,
  auditCommand,
  peopleListCommand,
  peopleSetCommand,
  projectsListCommand,
  projectsCreateCommand,
  retentionCommand,
  quotaCommand,
  pricesListCommand,
  pricesSetCommand,
  pricesRemoveCommand,
  backupCommand,
  restoreCommand,
  repriceCommand,
  rederiveCommand,
]
