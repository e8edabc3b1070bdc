/** Checks that read the archives, beside those of the database. */
import type { Sql } from 'postgres'
import { OperatorError } from '../../base/lib/operator-error.ts'
import type { AuditCheck } from '../../money/ledger/audit/audit.ts'
import { withDatabaseChain } from '../../money/ledger/books/chain-source-store.ts'
import { verifyChain } from '../../money/ledger/books/verify-chain.ts'
import type { ReadContent } from './objects.ts'
import { archivedEntries, readStated, verifyPeriod } from './verify-archives.ts'

/** Reads every object, and every sealed block over the entries of archives and database. */
export async function auditArchives(sql: Sql, storage: ReadContent): Promise<AuditCheck[]> {
  const differences = []
  for (const stated of await readStated(sql)) {
    const { name, problems } = await verifyPeriod(sql, storage, stated)
    for (const found of problems) {
      differences.push({ subject: `archive of ${name}`, found, expected: 'as it was written' })
    }
  }
  const chain = await withDatabaseChain(
    sql,
    async (source) => (await verifyChain(source)).problems,
    archivedEntries(storage),
  ).catch((error: unknown) => {
    if (error instanceof OperatorError) return [error.message]
    throw error
  })
  const blocks = chain.map((found) => ({ subject: 'sealed books', found, expected: 'as sealed' }))
  return [
    {
      id: 'I21',
      title: 'each archived object is as it was written, and its sums are those of the database',
      ok: differences.length === 0,
      details: differences,
    },
    {
      id: 'I22',
      title: 'each sealed block is that of its live and archived entries together',
      ok: blocks.length === 0,
      details: blocks,
    },
  ]
}
