/** `tributary catalog …`: the vendors that come with Tributary. */
import type { Command } from 'commander'
import { findVendor, listVendors } from '../../../server/money/catalog/apply/vendors.ts'
import { printJson, printTable } from '../../lib/print.ts'
import { type ApplyFlags, apply } from './apply.ts'

export function addCatalogCommands(program: Command): void {
  const catalog = program.command('catalog').description('list and add known vendors')
  catalog
    .command('list')
    .description('list the vendors that can be added')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary catalog list')
    .action((options: { readonly json?: boolean }) => list(options.json ?? false))
  catalog
    .command('add <names...>')
    .description('add the channels, models and prices of vendors')
    .option('--dry-run', 'show every value that would change, and change nothing')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Applies the vendor's file of the folder catalog/, as "tributary apply" would:
adding a vendor again updates it. The key of each channel comes from an
environment variable of the gateway, which "tributary catalog list" names.
Prices are the vendor's list prices; a warning names the models whose prices are
examples.

Examples:
  DEEPSEEK_API_KEY=… tributary catalog add deepseek
  tributary catalog add groq ollama --dry-run`,
    )
    .action(async (names: readonly string[], flags: ApplyFlags) => {
      await apply(await findPaths(names), flags)
    })
}

async function list(asJson: boolean) {
  const vendors = (await listVendors()).map(({ name, content, variables }) => {
    const { aliases = [], currency, models } = content
    return { name, aliases, currency, models: models.length, variables }
  })
  if (asJson) return printJson(vendors)
  printTable(
    vendors,
    [
      { title: 'name', cell: ({ name, aliases }) => [name, ...aliases].join(', ') },
      { title: 'currency', cell: ({ currency }) => currency },
      { title: 'models', cell: ({ models }) => String(models) },
      { title: 'variables', cell: ({ variables }) => variables.join(', ') || 'none' },
    ],
    'There are no vendors.',
  )
}

async function findPaths(names: readonly string[]): Promise<string[]> {
  const vendors = await Promise.all(names.map(findVendor))
  return [...new Set(vendors.map(({ path }) => path))]
}
