/** `tributary apply`: changes the catalog to match the files. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { applyCatalog, type CatalogDiff } from '../../../server/catalog/apply/apply.ts'
import {
  CatalogError,
  type NamedCatalogFile,
  parseCatalogFile,
} from '../../../server/catalog/apply/file.ts'
import type { KnownUpstreams } from '../../../server/catalog/channel-settings.ts'
import type { Mistake } from '../../../server/catalog/mistakes.ts'
import { openSecretBox } from '../../../server/config/secret-key-file.ts'
import { printJson } from '../../lib/print.ts'
import { withSession } from '../../lib/session.ts'

interface ApplyFlags {
  readonly replace?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

export function addApplyCommand(program: Command): void {
  program
    .command('apply <files...>')
    .description('apply catalog files: channels, models, prices')
    .option('--replace', 'also retire entries of other files')
    .option('--dry-run', 'show the changes without applying them')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Applying the same file twice changes nothing. Entries that a file no longer contains are
retired; entries of other files stay, unless --replace is given. A file is identified by its
"source", or else by its name.

Examples:
  tributary apply catalog/openai.json
  tributary apply catalog/openai.json my-prices.json --replace --dry-run`,
    )
    .action(apply)
}

async function apply(paths: readonly string[], flags: ApplyFlags): Promise<void> {
  const files = readFiles(paths)
  const { UPSTREAMS } = await import('../../../server/upstreams/index.ts')
  const upstreams: KnownUpstreams = Object.fromEntries(UPSTREAMS)
  const diff = await withSession(({ sql, config }) =>
    applyCatalog({
      sql,
      files,
      upstreams,
      environment: process.env,
      secrets: openSecretBox(config),
      replace: flags.replace ?? false,
      dryRun: flags.dryRun ?? false,
    }),
  )
  if (flags.json) return printJson({ ...diff, revision: diff.revision.toString() })
  printDiff(diff, flags.dryRun ?? false)
}

/** Reports every mistake in every file at once. */
function readFiles(paths: readonly string[]): NamedCatalogFile[] {
  const mistakes: Mistake[] = []
  const files = paths.flatMap((path) => {
    try {
      return [parseCatalogFile(path, readText(path), process.env)]
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error
      mistakes.push(...error.mistakes)
      return []
    }
  })
  if (mistakes.length > 0) throw new CatalogError(mistakes)
  return files
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const problem = code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`
    throw new CatalogError([{ file, path: '', problem }])
  }
}

const SIGNS = { added: '+', changed: '~', retired: '-' } as const

function printDiff({ changes, warnings, revision }: CatalogDiff, dryRun: boolean): void {
  for (const { kind, id, change, what } of changes) {
    const details = what.length > 0 ? ` (${what.join(', ')})` : ''
    console.log(`${SIGNS[change]} ${kind} ${id}${details}`)
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
  const end = dryRun ? 'nothing was written' : `the catalog is at revision ${revision}`
  console.log(`${counts.join(', ')}; ${end}`)
}
