/** `tributary files verify`: reads stored files again, and finds what was lost or damaged. */
import type { Command } from 'commander'
import { showAccount } from '../../../server/money/accounts/manage-accounts.ts'
import { openStorage } from '../../../server/work/assets/storage/open-storage.ts'
import { type FoundFault, verifyFiles } from '../../../server/work/assets/storage/verify-files.ts'
import { printJson } from '../../lib/print.ts'
import { withSession } from '../../lib/session.ts'

interface VerifyFlags {
  readonly account?: string
  readonly json?: boolean
}

const MEGABYTE = 1_000_000
const PROGRESS_MS = 2_000

export function addFilesCommands(program: Command): void {
  program
    .command('files')
    .description('verify stored files: uploads, results and archives')
    .command('verify')
    .description('read all stored files again; exit code 1 if one is not as it was stored')
    .option('--account <id>', 'only the files and results of this account')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Reads every byte on the local disk or in the object store, beside running
gateways, and compares sizes and SHA-256 with the database. It changes nothing.
What it finds:
  lost        the database lists it, but it is not there
  cut         it has fewer or more bytes than were stored
  damaged     its bytes are not those that were stored
  unowned     it is there but not in the database (not with --account)
  unreadable  the storage did not answer: try again

Callers get 404 for what is lost, and a response that breaks off for the rest.
Restore the file from a backup of the storage under its key, or delete it: the
account's owner can store it again.

Examples:
  tributary files verify
  tributary files verify --account acct_… --json`,
    )
    .action(verify)
}

async function verify({ account: accountId, json }: VerifyFlags): Promise<void> {
  await withSession(async ({ sql, config }) => {
    if (accountId !== undefined) await showAccount(sql, accountId)
    let saidMs = performance.now()
    const result = await verifyFiles({
      sql,
      storage: openStorage(config),
      accountId,
      onProgress({ files, bytes }) {
        if (performance.now() - saidMs < PROGRESS_MS) return
        saidMs = performance.now()
        console.error(`… ${files} files, ${Math.round(bytes / MEGABYTE)} MB`)
      },
      onFault: (fault) => void (json || console.log(describe(fault))),
    })
    const { files, bytes, faults, without_digest: without } = result
    if (faults.length > 0) process.exitCode = 1
    if (json) return printJson(result)
    const size = `${files} files of ${Math.round(bytes / MEGABYTE)} MB read`
    const unknown = without === 0 ? '' : ` (of ${without} only the size is known)`
    console.log(`${size}${unknown}: ${faults.length === 0 ? 'all as stored' : summarise(faults)}.`)
  })
}

function describe({ fault, key, owner, id, account, ...sizes }: FoundFault): string {
  const place = owner
    ? `${owner} ${id}${account ? ` of ${account}` : ''}, key ${key}`
    : `key ${key}`
  const { stated_bytes: stated, bytes, reason } = sizes
  if (fault === 'cut') return `${fault}: ${place}: ${bytes} of ${stated} bytes`
  return fault === 'unreadable' ? `${fault}: ${place}: ${reason}` : `${fault}: ${place}`
}

function summarise(faults: readonly FoundFault[]): string {
  const counts = Map.groupBy(faults, ({ fault }) => fault)
  return [...counts].map(([fault, found]) => `${found.length} ${fault}`).join(', ')
}
