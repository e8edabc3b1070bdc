/** `tributary serve`: the gateway itself, until it is told to stop. */
import type { Command } from 'commander'
import { loadConfig } from '../../server/config.ts'
import { port } from '../lib/parse.ts'

interface ServeOptions {
  readonly port?: number
  readonly host?: string
  readonly role: string
}

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('run the gateway')
    .option('--port <port>', 'port; 0 takes any free one (PORT)', port)
    .option('--host <address>', 'address (HOST)')
    .option('--role <role>', 'all, api or worker', 'all')
    .addHelpText(
      'after',
      '\nSIGTERM drains the calls under way for at most DRAIN_SECONDS and settles each of them; ' +
        'a second one stops at once.\n\nExample:\n  tributary serve --port 8080',
    )
    .action(runServe)
}

async function runServe(options: ServeOptions): Promise<void> {
  const { serve } = await import('../../server/main.ts')
  const config = loadConfig(process.env, {
    PORT: options.port?.toString(),
    HOST: options.host,
  })
  const gateway = await serve(config)
  await untilSignalled()
  // Whoever is impatient may stop us at once: what is open is settled by the sweeper.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
  await gateway.stop()
}

function untilSignalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => resolve())
    }
  })
}
