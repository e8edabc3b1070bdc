/** `tributary serve`: runs the gateway until a signal stops it. */
import cluster from 'node:cluster'
import { type Command, Option } from 'commander'
import { type Config, describeConfig, loadConfig } from '../../../server/api/config/config.ts'
import type {
  StopReason,
  SupervisorMessage,
  WorkerMessage,
} from '../../../server/base/workers/messages.ts'
import { setLateFlags } from '../../lib/engine-flags.ts'
import { createNotices, logWarnings, type ServeNotices } from '../../lib/notices.ts'
import { port } from '../../lib/parse.ts'

/** Time for the start to complete after a stop signal. */
const START_MS = 5_000
/** Time for the last lines of the log to leave. */
const EXIT_MS = 1_000

interface ServeOptions {
  readonly role?: string
  readonly port?: number
  readonly host?: string
}

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('run the gateway')
    .addOption(
      new Option('--role <role>', 'what this process does').choices(['all', 'api', 'worker']),
    )
    .option('--port <port>', 'port; 0 takes any free one', port)
    .option('--host <address>', 'address to listen on')
    .addHelpText(
      'after',
      `
Everything else is set by environment variables: tributary config lists them. On
SIGTERM or SIGHUP, /readyz is 503 while calls are still accepted for
DRAIN_DELAY_SECONDS; then running calls have DRAIN_SECONDS to finish, and each
is settled. SIGINT skips the delay. A second signal stops at once, and what is
open is settled by the next start.

With WORKERS above 1, a supervisor runs that many processes on one port and
restarts those that end.

Examples:
  tributary serve
  DATABASE_URL=postgres://… SECRET_KEY=… \\
    tributary serve --host 0.0.0.0 --port 80`,
    )
    .action(serve)
}

async function serve(options: ServeOptions): Promise<void> {
  const flags = cluster.isPrimary
    ? { ROLE: options.role, HOST: options.host, PORT: options.port?.toString() }
    : {}
  const config = readConfig(flags)
  const { format, level } = config.log
  const notices = createNotices(format, level)
  if (format === 'json') logWarnings(level)
  if (cluster.isPrimary) {
    const settings = describeConfig(process.env, flags)
    notices.configured(settings.filter((line) => !line.endsWith('(default)')))
  }
  outliveClosedPipe()
  // A gateway answers calls before its start is complete, and a signal must end these in order too.
  const requested = stopRequested(notices)
  let patience: NodeJS.Timeout | undefined
  if (cluster.isPrimary && config.workers > 1) {
    process.exitCode = await import('../../../server/api/app/supervise.ts')
      .then(({ supervise }) => supervise(config, requested))
      .catch(quitWith(notices))
    return
  }
  void requested.then(() => {
    patience = setTimeout(() => process.exit(1), START_MS)
  })
  const { openOwnDatabase } = await import('../../../server/api/app/open-own-database.ts')
  const opening = openOwnDatabase(config)
  // Awaited once the rest is loaded.
  opening.catch(() => undefined)
  const gateway = await import('../../../server/main.ts')
    .then(({ serve: start }) => {
      setLateFlags()
      return start(config, undefined, opening)
    })
    .catch(quitWith(notices))
  const started: WorkerMessage = { tributary: 'started', isDemo: gateway.demo !== undefined }
  process.send?.(started)
  const reason = await requested
  clearTimeout(patience)
  const delayMs = reason === 'SIGINT' ? 0 : config.drainDelayMs
  await gateway.stop(reason === 'fault' ? { drainMs: 0 } : { delayMs })
  if (reason === 'fault') process.exitCode = 1
  // The channel to the supervisor would keep a worker alive.
  cluster.worker?.disconnect()
  // As would a settlement that came too late. The next process closes its hold.
  setTimeout(() => process.exit(), EXIT_MS).unref()
}

/** Keeps calls running after the reader of the log has exited. */
function outliveClosedPipe(): void {
  process.stdout.removeAllListeners('error').on('error', () => undefined)
}

function readConfig(flags: NodeJS.ProcessEnv): Config {
  try {
    return loadConfig(process.env, flags)
  } catch (error) {
    return quitWith(createNotices())(error)
  }
}

/** Exits, because resources of a failed start (timers, sockets) would keep the process alive. */
function quitWith(notices: ServeNotices) {
  return (error: unknown): never => {
    notices.failed(error)
    process.exit(1)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Resolves when the process must stop: to the signal, or to `fault` on an uncaught error. A second
 * one ends the process at once, even while calls are drained.
 */
function stopRequested(notices: ServeNotices): Promise<StopReason> {
  return new Promise((resolve) => {
    let stopping = false
    const stop = (reason: StopReason) => {
      if (stopping) process.exit(1)
      stopping = true
      resolve(reason)
    }
    // A terminal sends its signals to workers as well, whose supervisor says when to stop.
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (cluster.isPrimary || (signal === 'SIGTERM' && !stopping)) stop(signal)
      })
    }
    process.on('message', (message: SupervisorMessage) => {
      if (message.tributary === 'stop' && !stopping) stop(message.reason)
    })
    for (const fault of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(fault, (error: unknown) => {
        notices.uncaught(error)
        stop('fault')
      })
    }
  })
}
