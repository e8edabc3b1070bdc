/** `tributary apply`: changes catalog, accounts and keys to match the files. */
import type { Command } from 'commander'
import { openSecretBox } from '../../../server/api/config/secret-key-file.ts'
import { applyAccounts } from '../../../server/money/accounts/apply-accounts.ts'
import { applyCatalog, type CatalogDiff } from '../../../server/money/catalog/apply/apply.ts'
import type { Difference } from '../../../server/money/catalog/apply/change.ts'
import type { NamedCatalogFile } from '../../../server/money/catalog/apply/file.ts'
import type { KnownUpstreams } from '../../../server/money/catalog/channel-settings.ts'
import { describePrice } from '../../lib/price-words.ts'
import { printJson } from '../../lib/print.ts'
import { readConfiguration } from '../../lib/read-configuration.ts'
import { recordAct, withSession } from '../../lib/session.ts'

export interface ApplyFlags {
  readonly replace?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

export function addApplyCommand(program: Command): void {
  program
    .command('apply <files...>')
    .description('apply files: channels, models, prices, accounts, key hashes')
    .option('--replace', 'also retire entries of other files')
    .option('--dry-run', 'show every value that would change, and change nothing')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Applying the same file twice changes nothing. Entries that a file no longer
contains are retired; entries of other files stay, unless --replace is given. A
file is identified by its "source", or else by its name. Accounts and keys are
added and changed, never removed; balances are not part of a file. "tributary
export" writes such a file.

Examples:
  tributary apply catalog/openai.json
  tributary apply catalog/openai.json my-prices.json --replace --dry-run`,
    )
    .action(apply)
}

/** Applies files and prints what changed. Throws OperatorError if they are invalid. */
export async function apply(paths: readonly string[], flags: ApplyFlags): Promise<void> {
  const { files, accounts } = readConfiguration(paths)
  const { UPSTREAMS } = await import('../../../server/wire/upstreams/index.ts')
  const upstreams: KnownUpstreams = Object.fromEntries(UPSTREAMS)
  const applied = await withSession(async ({ sql, config }) => {
    const diff = await applyCatalog({
      sql,
      files,
      upstreams,
      environment: process.env,
      secrets: openSecretBox(config),
      replace: flags.replace ?? false,
      dryRun: flags.dryRun ?? false,
      alongside: (transaction) => applyAccounts(transaction, accounts),
    })
    const changes = diff.changes.map(
      ({ kind, id, change }) => `${change} ${kind.replace('_', ' ')} ${id}`,
    )
    if (!flags.dryRun && changes.length > 0) {
      await recordAct(sql, 'apply', { target: paths.join(' ') }, { changes })
    }
    return diff
  })
  const diff = { ...applied, warnings: [...applied.warnings, ...warnOfExamples(files, applied)] }
  if (flags.json) return printJson({ ...diff, revision: diff.revision.toString() })
  printDiff(diff, flags.dryRun ? listPrices(files) : undefined)
}

const NAMED_MAX = 5

/** Returns a warning of changed models whose prices nobody has read at their vendor. */
function warnOfExamples(files: readonly NamedCatalogFile[], { changes }: CatalogDiff): string[] {
  const changed = new Set(changes.map(({ id }) => id))
  const models = files.flatMap(({ content }) => content.models)
  const examples = models.filter(({ id, details }) => details.example === true && changed.has(id))
  if (examples.length === 0) return []
  const names = examples.slice(0, NAMED_MAX).map(({ id }) => id)
  const more = examples.length > NAMED_MAX ? ` and ${examples.length - NAMED_MAX} more` : ''
  return [`prices that are examples, to be checked before you sell: ${names.join(', ')}${more}`]
}

const SIGNS = { added: '+', changed: '~', retired: '-' } as const

/** Returns the prices of each model of the files, as people read them. */
function listPrices(files: readonly NamedCatalogFile[]): ReadonlyMap<string, readonly string[]> {
  const models = files.flatMap(({ content }) =>
    content.models.map(({ id, prices, currency = content.currency }) => {
      const lines = prices.map((price) => {
        const when = price.when ? ` when ${JSON.stringify(price.when)}` : ''
        return `${describePrice(price, currency)}${when}`
      })
      return [id, lines] as const
    }),
  )
  return new Map(models)
}

/** `prices` of a dry run, by model. */
function printDiff(
  { changes, warnings, revision }: CatalogDiff,
  prices: ReadonlyMap<string, readonly string[]> | undefined,
): void {
  for (const { kind, id, change, what, differences = [] } of changes) {
    const details = what.length > 0 ? ` (${what.join(', ')})` : ''
    console.log(`${SIGNS[change]} ${kind.replace('_', ' ')} ${id}${details}`)
    if (!prices) continue
    for (const difference of differences) console.log(describe(difference))
    if (kind !== 'model') continue
    for (const price of prices.get(id) ?? []) console.log(`    = ${price}`)
  }
  for (const warning of warnings) console.error(`warning: ${warning}`)
  if (changes.length === 0) {
    console.log('no changes')
    return
  }
  const counts = (['added', 'changed', 'retired'] as const)
    .map((change) => [changes.filter((one) => one.change === change).length, change] as const)
    .filter(([count]) => count > 0)
    .map(([count, change]) => `${count} ${change}`)
  const end = prices ? 'nothing was written' : `the catalog is at revision ${revision}`
  console.log(`${counts.join(', ')}; ${end}`)
}

function describe({ path, from, to }: Difference): string {
  if (from === undefined) return `    + ${path}: ${to}`
  if (to === undefined) return `    - ${path}: ${from}`
  return `    ~ ${path}: ${from} → ${to}`
}
