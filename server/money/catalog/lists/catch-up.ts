/** Brings price lists up to date with changes that a gateway of an earlier version has made. */
import type { Sql } from 'postgres'
import type { Log } from '../../../base/lib/log.ts'
import { bumpRevision, lockCatalog } from '../store.ts'
import { deriveLists, UnderivableLists } from './derive.ts'

/**
 * Computes all lists again, as each change of the catalog has done since this version. Lists that
 * cannot be computed keep their prices; the log says why.
 */
export async function catchUpLists(sql: Sql, log: Log): Promise<void> {
  try {
    await sql.begin(async (transaction) => {
      await lockCatalog(transaction)
      const { changed } = await deriveLists(transaction)
      if (changed.length === 0) return
      await bumpRevision(transaction)
      log.info({ count: changed.length }, 'price lists recomputed')
    })
  } catch (error) {
    if (!(error instanceof UnderivableLists)) throw error
    log.error(
      { reason: error.message },
      'price lists keep their previous prices: a rule yields no price',
    )
  }
}
