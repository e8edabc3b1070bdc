/** `tributary catalog …`: the vendors that come with Tributary. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { asString, isObject, type JsonObject } from '../../../server/lib/json.ts'
import { OperatorError } from '../../../server/lib/operator-error.ts'
import { printJson, printTable } from '../../lib/print.ts'
import { type ApplyFlags, apply } from './apply.ts'

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'catalog')
/** The catalog of the demo, whose upstreams are not vendors. */
const SIMULATORS = 'simulators'

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
Applies the vendor's file of the folder catalog/, as "tributary apply" would: adding a vendor
again updates it. The key of each channel comes from an environment variable of the gateway,
which "tributary catalog list" names. Prices are the vendor's list prices.

Examples:
  DEEPSEEK_API_KEY=… tributary catalog add deepseek
  tributary catalog add groq ollama --dry-run`,
    )
    .action((names: readonly string[], flags: ApplyFlags) => apply(findFiles(names), flags))
}

interface Vendor {
  readonly name: string
  readonly aliases: readonly string[]
  readonly path: string
  readonly currency: string
  readonly models: number
  /** Environment variables that its channels need. */
  readonly variables: readonly string[]
}

function listVendors(): Vendor[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json') && file !== `${SIMULATORS}.json`)
    .map(readVendor)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function readVendor(file: string): Vendor {
  const path = join(FOLDER, file)
  const text = readFileSync(path, 'utf8')
  const content: unknown = JSON.parse(text)
  const { aliases, currency, models }: JsonObject = isObject(content) ? content : {}
  return {
    name: file.replace(/\.json$/, ''),
    aliases: Array.isArray(aliases) ? aliases.map(String) : [],
    path,
    currency: asString(currency) ?? 'CNY',
    models: Array.isArray(models) ? models.length : 0,
    variables: [...new Set([...text.matchAll(/"env:(\w+)"/g)].map(([, name]) => name ?? ''))],
  }
}

function list(asJson: boolean): void {
  const vendors = listVendors()
  if (asJson) {
    printJson(vendors.map(({ path: _path, ...shown }) => shown))
    return
  }
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

/** Throws OperatorError for a name that no vendor has. */
function findFiles(names: readonly string[]): string[] {
  const vendors = listVendors()
  const paths = names.map((name) => {
    const id = name.toLowerCase().replace(/\.json$/, '')
    const found = vendors.find((one) => one.name === id || one.aliases.includes(id))
    if (found) return found.path
    const known = vendors.map((one) => one.name).join(', ')
    throw new OperatorError(`there is no vendor "${name}" in the catalog; known: ${known}`)
  })
  return [...new Set(paths)]
}
