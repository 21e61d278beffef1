import { backupCommand } from './commands/backup.ts'
import { checkCommand } from './commands/check.ts'
import type { Command } from './arguments/command.ts'
import { diffCommand } from './commands/diff.ts'
import { exportCommand } from './commands/export.ts'
import { keysCreateCommand, keysListCommand, keysRevokeCommand } from './commands/keys.ts'
import { lsCommand } from './commands/ls.ts'
import { openCommand } from './commands/open.ts'
import { projectsCreateCommand, projectsListCommand } from './commands/projects.ts'
import { rederiveCommand } from './commands/rederive.ts'
import { reportCommand } from './commands/report.ts'
import { repriceCommand } from './commands/reprice.ts'
import { restoreCommand } from './commands/restore.ts'
import { serveCommand } from './commands/serve.ts'
import { showCommand } from './commands/show.ts'

/** Everything `playhead` can do, in the order of its help. */
export const commands: readonly Command[] = [
  serveCommand,
  lsCommand,
  showCommand,
  diffCommand,
  openCommand,
  exportCommand,
  checkCommand,
  reportCommand,
  keysListCommand,
  keysCreateCommand,
  keysRevokeCommand,
  projectsListCommand,
  projectsCreateCommand,
  backupCommand,
  restoreCommand,
  repriceCommand,
  rederiveCommand,
]
