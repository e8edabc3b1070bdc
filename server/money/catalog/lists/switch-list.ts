/** Changes of an account's list, with what follows for the account's own prices. */
import type { Sql, TransactionSql } from 'postgres'
import { bumpRevision, lockCatalog } from '../store.ts'
import { deriveLists } from './derive.ts'

/**
 * Runs `assign`, which gives an account another list, and works out the own list of the account,
 * which builds on it, in the same transaction. Returns what `assign` did: false for no change.
 */
export async function switchList(
  sql: Sql,
  assign: (transaction: TransactionSql) => Promise<boolean>,
): Promise<boolean> {
  return await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    if (!(await assign(transaction))) return false
    await deriveLists(transaction)
    // Gateways load what an own list builds on with the catalog, although no version is new.
    await bumpRevision(transaction)
    return true
  })
}
