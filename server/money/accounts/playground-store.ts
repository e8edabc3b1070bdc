/**
 * SQL of playground keys: a few reused rows per account, so that trying things out does not fill
 * the table.
 */
import type { Sql } from 'postgres'
import { withTransaction } from '../../base/database/transaction.ts'
import { lockPlayer } from './key-holder-store.ts'

export interface PlaygroundKey {
  readonly id: string
  readonly expires_at: Date
}

/**
 * Stores a new key in the row that expires first, or in a new row while there are fewer than
 * `atOnce`. Resolves to undefined if the account does not exist, or the
 * person may not use its playground any more.
 */
export async function renewPlaygroundKey(
  sql: Sql,
  key: {
    readonly accountId: string
    readonly createdBy: string
    readonly id: string
    readonly hash: Buffer
    readonly display: string
    readonly lifeSeconds: number
    readonly atOnce: number
  },
): Promise<PlaygroundKey | undefined> {
  return await withTransaction(sql, async (transaction) => {
    const [account] = await transaction`
      select 1 from account where id = ${key.accountId} for no key update`
    if (!account || !(await lockPlayer(transaction, key.accountId, key.createdBy))) return undefined
    const [row] = await transaction<PlaygroundKey[]>`
      with slots as (
        select id, expires_at, count(*) over () as slots from api_key
        where account_id = ${key.accountId} and purpose = 'playground'
      ), oldest as (
        select id from slots where slots >= ${key.atOnce} or expires_at <= now()
        order by expires_at limit 1
      ), renewed as (
        update api_key set hash = ${key.hash}, display = ${key.display}, disabled_at = null,
          created_by = ${key.createdBy},
          expires_at = now() + make_interval(secs => ${key.lifeSeconds})
        where id = (select id from oldest)
        returning id, expires_at
      ), inserted as (
        insert into api_key (id, account_id, name, hash, display, purpose, created_by,
          expires_at)
        select ${key.id}, ${key.accountId}, 'Playground', ${key.hash}, ${key.display},
          'playground', ${key.createdBy}, now() + make_interval(secs => ${key.lifeSeconds})
        where not exists (select 1 from oldest)
        returning id, expires_at
      )
      select * from renewed union all select * from inserted`
    return row
  })
}
