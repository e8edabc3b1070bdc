/** Runs one command and turns whatever happens into an exit code and at most a few clear lines. */
import { Command, CommanderError } from 'commander'
import { addAccountCommands } from '../commands/account.ts'
import { addApplyCommand } from '../commands/apply.ts'
import { addAuditCommand } from '../commands/audit.ts'
import { addBackupCommand } from '../commands/backup.ts'
import { addChannelCommands } from '../commands/channel.ts'
import { addCheckpointCommands } from '../commands/checkpoint.ts'
import { addConfigCommand } from '../commands/config.ts'
import { addCreditCommand } from '../commands/credit.ts'
import { addKeyCommands } from '../commands/key.ts'
import { addMigrateCommand } from '../commands/migrate.ts'
import { addModelCommands } from '../commands/model.ts'
import { addReconcileCommand } from '../commands/reconcile.ts'
import { addRekeyCommand } from '../commands/rekey.ts'
import { addRestoreCommand } from '../commands/restore.ts'
import { addRoutesCommand } from '../commands/routes.ts'
import { addServeCommand } from '../commands/serve.ts'
import { addSimulateCommand } from '../commands/simulate.ts'
import { addTaskCommands } from '../commands/task.ts'
import { addTokenCommands } from '../commands/token.ts'
import { addUsageCommands } from '../commands/usage.ts'
import { addUserCommands } from '../commands/user.ts'
import { addWebhookCommands } from '../commands/webhook.ts'
import { explainFailure } from './failure.ts'
import { readVersion } from './version.ts'

/** 0: done. 1: it could not be done. 2: the command line itself was wrong. */
type ExitCode = 0 | 1 | 2

export async function runCommandLine(words: readonly string[]): Promise<ExitCode> {
  quitQuietlyOnClosedPipe()
  const program = createProgram()
  try {
    await program.parseAsync(words, { from: 'user' })
    return process.exitCode === 1 ? 1 : 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    console.error(explainFailure(error))
    return 1
  }
}

function createProgram(): Command {
  const program = new Command('tributary')
    .description('A self-hosted AI gateway that meters every call to the cent.')
    .exitOverride()
    .showHelpAfterError('(--help shows what is possible)')
    .configureHelp({ showGlobalOptions: false, sortSubcommands: false })
    .version(readVersion(), '-V, --version', 'the version of this program')
    .addHelpText('after', '\nEvery command takes --help, and most take --json.')
  addServeCommand(program)
  addSimulateCommand(program)
  addApplyCommand(program)
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

/** `tributary account list | head` is no failure. A gateway outlives the reader of its log. */
function quitQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })
}
