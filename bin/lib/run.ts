/** Runs one command and converts every outcome to an exit code and at most a few clear lines. */
import { Command, CommanderError } from 'commander'
import { readVersion } from '../../server/api/config/version.ts'
import { loadCommands } from './commands.ts'
import { describeCommandFailure } from './failure.ts'

/** 0: done. 1: the command failed. 2: the command line was wrong. */
type ExitCode = 0 | 1 | 2

export async function runCommandLine(words: readonly string[]): Promise<ExitCode> {
  quitQuietlyOnClosedPipe()
  const program = await createProgram(words[0])
  try {
    await program.parseAsync(words, { from: 'user' })
    return process.exitCode === 1 ? 1 : 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    console.error(describeCommandFailure(error))
    return 1
  }
}

/** Returns the program with the command of this word, the first one of the command line, or all. */
export async function createProgram(word: string | undefined): Promise<Command> {
  const program = new Command('tributary')
    .description('A self-hosted AI gateway that meters every call to the cent.')
    .exitOverride()
    .showHelpAfterError('(--help lists the options)')
    .configureHelp({ showGlobalOptions: false, sortSubcommands: false, minWidthToWrap: 30 })
    .version(readVersion(), '-V, --version', 'the version of this program')
    .addHelpText('after', '\nEvery command takes --help, and most take --json.')
  for (const add of await loadCommands(word)) add(program)
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
