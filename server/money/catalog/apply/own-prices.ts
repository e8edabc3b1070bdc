/** An account's own prices: a list for it alone, on top of the list that the account has. */
import type { Sql } from 'postgres'
import { notifyAccount } from '../lists/list-store.ts'
import { describeFileProblems } from '../mistakes.ts'
import { bumpRevision, lockCatalog } from '../store.ts'
import { applyLists, derivePrices } from './apply-lists.ts'
import { CatalogError, type NamedCatalogFile } from './file.ts'
import { catalogFile } from './file-schema.ts'

const SOURCE = 'console'
const REQUEST = 'the request'

/** The id of an account's own list. */
function ownListOf(accountId: string): string {
  return `own:${accountId}`
}

/**
 * Replaces the own prices of an account; `definition` has the members of a list in a catalog file:
 * `default`, `prices` and `planned_prices`. Returns warnings about prices below cost. Throws
 * CatalogError with the path of each mistake.
 */
export async function setOwnPrices(
  sql: Sql,
  { id, currency }: { readonly id: string; readonly currency: string },
  definition: object,
): Promise<readonly string[]> {
  const list = { ...definition, id: ownListOf(id), account: id, currency }
  const parsed = catalogFile.safeParse({ currency, price_lists: [list] })
  if (!parsed.success) throw new CatalogError(describeFileProblems(REQUEST, parsed.error))
  const file: NamedCatalogFile = {
    name: REQUEST,
    source: `${SOURCE}:${ownListOf(id)}`,
    content: parsed.data,
  }
  return await change(sql, id, [file], () => false)
}

/** Removes them: the account pays by its list again. Returns whether it had any. */
export async function clearOwnPrices(sql: Sql, accountId: string): Promise<boolean> {
  let isFound = false
  await change(sql, accountId, [], (row) => {
    const isOwn = row.id === ownListOf(accountId)
    isFound ||= isOwn
    return isOwn
  })
  return isFound
}

async function change(
  sql: Sql,
  accountId: string,
  files: readonly NamedCatalogFile[],
  isRetired: Parameters<typeof applyLists>[2],
): Promise<readonly string[]> {
  return await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const changes = await applyLists(transaction, files, isRetired)
    const { warnings } = await derivePrices(transaction, files)
    if (changes.length === 0) return []
    await bumpRevision(transaction)
    await notifyAccount(transaction, accountId)
    return warnings
  })
}
