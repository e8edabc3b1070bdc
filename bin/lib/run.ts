/** Runs one command and converts every outcome to an exit code and at most a few clear lines. */
import { Command, CommanderError } from 'commander'
import { readVersion } from '../../server/config/version.ts'
import { addAccountCommands } from '../commands/access/account.ts'
import { addKeyCommands } from '../commands/access/key.ts'
import { addTokenCommands } from '../commands/access/token.ts'
import { addUserCommands } from '../commands/access/user.ts'
import { addApplyCommand } from '../commands/catalog/apply.ts'
import { addChannelCommands } from '../commands/catalog/channel.ts'
import { addExportCommand } from '../commands/catalog/export.ts'
import { addModelCommands } from '../commands/catalog/model.ts'
import { addRoutesCommand } from '../commands/catalog/routes.ts'
import { addBackupCommand } from '../commands/database/backup.ts'
import { addMigrateCommand } from '../commands/database/migrate.ts'
import { addRekeyCommand } from '../commands/database/rekey.ts'
import { addRestoreCommand } from '../commands/database/restore.ts'
import { addAuditCommand } from '../commands/money/audit.ts'
import { addCheckpointCommands } from '../commands/money/checkpoint.ts'
import { addCreditCommand } from '../commands/money/credit.ts'
import { addReconcileCommand } from '../commands/money/reconcile.ts'
import { addUsageCommands } from '../commands/money/usage.ts'
import { addConfigCommand } from '../commands/run/config.ts'
import { addServeCommand } from '../commands/run/serve.ts'
import { addSimulateCommand } from '../commands/run/simulate.ts'
import { addTaskCommands } from '../commands/work/task.ts'
import { addWebhookCommands } from '../commands/work/webhook.ts'
import { describeCommandFailure } from './failure.ts'

/** 0: done. 1: the command failed. 2: the command line was wrong. */
type ExitCode = 0 | 1 | 2

export async function runCommandLine(words: readonly string[]): Promise<ExitCode> {
  quitQuietlyOnClosedPipe()
  const program = createProgram()
  try {
    await program.parseAsync(words, { from: 'user' })
    return process.exitCode === 1 ? 1 : 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    console.error(describeCommandFailure(error))
    return 1
  }
}

function createProgram(): Command {
  const program = new Command('tributary')
    .description('A self-hosted AI gateway that meters every call to the cent.')
    .exitOverride()
    .showHelpAfterError('(--help lists the options)')
    .configureHelp({ showGlobalOptions: false, sortSubcommands: false })
    .version(readVersion(), '-V, --version', 'the version of this program')
    .addHelpText('after', '\nEvery command takes --help, and most take --json.')
  addServeCommand(program)
  addSimulateCommand(program)
  addApplyCommand(program)
  addExportCommand(program)
  addAccountCommands(program)
  addKeyCommands(program)
  addCreditCommand(program)
  addUserCommands(program)
  addTokenCommands(program)
  addUsageCommands(program)
  addTaskCommands(program)
  addWebhookCommands(program)
  addChannelCommands(program)
  addModelCommands(program)
  addRoutesCommand(program)
  addAuditCommand(program)
  addReconcileCommand(program)
  addCheckpointCommands(program)
  addMigrateCommand(program)
  addBackupCommand(program)
  addRestoreCommand(program)
  addRekeyCommand(program)
  addConfigCommand(program)
  return program
}

/**
 * Exits without an error on a closed pipe, as in `tributary account list | head`; a gateway
 * outlives the reader of its log.
 */
function quitQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })
}
