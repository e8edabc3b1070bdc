/** Changes of an account's list, with what follows for the account's own prices. */
import type { Sql, TransactionSql } from 'postgres'
import { bumpRevision, lockCatalog } from '../store.ts'
import { deriveLists } from './derive.ts'

/**
 * Runs `assign`, which gives an account another list, and in the same transaction recomputes the
 * account's own prices, which build on that list. Returns what `assign` did: false for no change.
 */
export async function switchList(
  sql: Sql,
  assign: (transaction: TransactionSql) => Promise<boolean>,
): Promise<boolean> {
  return await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    if (!(await assign(transaction))) return false
    await deriveLists(transaction)
    // Gateways load what own prices build on together with the catalog, so its revision is raised
    // even if no version is new.
    await bumpRevision(transaction)
    return true
  })
}
