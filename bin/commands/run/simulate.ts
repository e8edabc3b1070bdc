/** `tributary simulate`: runs the vendors' simulators until interrupted. */
import type { Command } from 'commander'
import { port } from '../../lib/parse.ts'
import { printJson } from '../../lib/print.ts'

interface SimulateOptions {
  readonly port: number
  readonly host: string
  readonly timeScale: string
  readonly json?: boolean
}

export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('run simulated vendors to try the gateway free of charge')
    .requiredOption('--port <port>', 'port; 0 takes any free one', port)
    .option('--host <address>', 'address', '127.0.0.1')
    .option('--time-scale <factor>', 'multiplies every delay', '1')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  tributary simulate --port 9100\n' +
        '  SIMULATORS_URL=http://127.0.0.1:9100 tributary apply catalog/simulators.json',
    )
    .action(simulate)
}

async function simulate(options: SimulateOptions): Promise<void> {
  const { startSimulators } = await import('../../../simulators/index.ts')
  const { url, stop } = await startSimulators({
    port: options.port,
    host: options.host,
    timeScale: Number(options.timeScale),
  })
  if (options.json) printJson({ url })
  else console.log(`Simulators listen on ${url}; ${url}/sim lists their scenarios.`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await stop()
}
