/** `tributary demo …`: what the simulators of a demo left in the catalog. */
import type { Command } from 'commander'
import {
  listSimulators,
  retireSimulators,
} from '../../../server/money/catalog/apply/retire-simulators.ts'
import { printJson } from '../../lib/print.ts'
import { recordAct, withSession } from '../../lib/session.ts'

interface RemoveOptions {
  readonly dryRun?: boolean
  readonly json?: boolean
}

export function addDemoCommands(program: Command): void {
  program
    .command('demo')
    .description('remove the channels and models of the demo')
    .command('remove')
    .description('retire the channels and models of the simulators')
    .option('--dry-run', 'only list them')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
A gateway with a channel of its own does this at its start. Records, balances
and the account of the demo stay: \`tributary account suspend\` stops its play
money from being used. A gateway without channels of its own starts the demo
again, with all of its channels and models.

Example:
  tributary demo remove --dry-run`,
    )
    .action((options: RemoveOptions) =>
      withSession(async ({ sql }) => {
        const { dryRun = false } = options
        const found = dryRun ? await listSimulators(sql) : await retireSimulators(sql)
        const { channels, models, changed } = found
        if (!dryRun && channels.length > 0) {
          const counts = { channels: channels.length, models: models.length }
          await recordAct(sql, 'DELETE /operator/simulators', { target: '' }, counts)
        }
        if (options.json) return printJson(found)
        if (channels.length === 0) return console.log('Nothing is left of a demo.')
        const act = dryRun ? 'would be retired' : 'are retired'
        console.log(`${channels.length} channels ${act}: ${channels.join(', ')}`)
        console.log(`${models.length} models ${act}: ${models.join(', ')}`)
        if (changed.length > 0) console.log(`keep their other routes: ${changed.join(', ')}`)
      }),
    )
}
