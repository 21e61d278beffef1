import { backupCommand } from './backup-command.ts'
import { checkCommand } from './check-command.ts'
import type { Command } from './command.ts'
import { diffCommand } from './diff-command.ts'
import { exportCommand } from './export-command.ts'
import { keysCreateCommand, keysListCommand, keysRevokeCommand } from './keys-commands.ts'
import { lsCommand } from './ls-command.ts'
import { openCommand } from './open-command.ts'
import { projectsCreateCommand, projectsListCommand } from './projects-commands.ts'
import { rederiveCommand } from './rederive-command.ts'
import { reportCommand } from './report-command.ts'
import { repriceCommand } from './reprice-command.ts'
import { restoreCommand } from './restore-command.ts'
import { serveCommand } from './serve-command.ts'
import { showCommand } from './show-command.ts'

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
