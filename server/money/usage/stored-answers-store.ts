/** SQL of answers stored at vendors, and of their items. */
import type { Sql } from 'postgres'

export interface StoredAnswerRow {
  readonly channel_id: string
  /** Input and output tokens of all its turns; null if unknown. */
  readonly tokens: number | null
}

export interface StoredItemRow extends StoredAnswerRow {
  readonly id: string
  readonly answer_id: string
}

/**
 * Stores an answer's channel and tokens. An id of another account is left unchanged; unknown tokens
 * may be filled in later.
 */
export async function insertStoredAnswer(
  sql: Sql,
  answer: {
    readonly id: string
    readonly accountId: string
    readonly channelId: string
    readonly tokens: number | null
  },
): Promise<void> {
  const { id, accountId, channelId, tokens } = answer
  await sql`
    insert into stored_answer (id, account_id, channel_id, tokens)
    values (${id}, ${accountId}, ${channelId}, ${tokens})
    on conflict (id) do update set tokens = excluded.tokens
    where stored_answer.tokens is null and stored_answer.account_id = excluded.account_id
      and stored_answer.channel_id = excluded.channel_id`
}

/** Stores items by their ids. Those that are known stay longer, and keep their tokens. */
export async function insertStoredItems(
  sql: Sql,
  items: {
    readonly ids: readonly string[]
    readonly answerId: string
    readonly accountId: string
    readonly channelId: string
    readonly tokens: number | null
    readonly days: number
  },
): Promise<void> {
  const { ids, answerId, accountId, channelId, tokens, days } = items
  await sql`
    insert into stored_item as s (account_id, id, channel_id, answer_id, tokens, expires_at)
    select ${accountId}, o.id, ${channelId}, ${answerId}, ${tokens}::bigint,
      now() + ${days} * interval '1 day'
    from unnest(${ids as string[]}::text[]) as o(id)
    order by o.id
    on conflict (account_id, id) do update
      set expires_at = greatest(s.expires_at, excluded.expires_at),
        tokens = coalesce(s.tokens, excluded.tokens)
      where s.channel_id = excluded.channel_id`
}

export async function findStoredAnswer(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<StoredAnswerRow | undefined> {
  const [row] = await sql<StoredAnswerRow[]>`
    select channel_id, tokens::float8 as tokens from stored_answer
    where id = ${id} and account_id = ${accountId}`
  return row
}

export function findStoredItems(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<readonly StoredItemRow[]> {
  return sql<StoredItemRow[]>`
    select id, channel_id, answer_id, tokens::float8 as tokens from stored_item
    where account_id = ${accountId} and id = any (${ids as string[]}::text[])`
}

export async function deleteStoredAnswer(sql: Sql, accountId: string, id: string): Promise<void> {
  await sql`delete from stored_answer where id = ${id} and account_id = ${accountId}`
}

/** Deletes up to `limit` items that have expired. Returns their number. */
export async function deleteOldItems(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from stored_item where (account_id, id) in (
      select account_id, id from stored_item
      where expires_at < now() limit ${limit})`
  return deleted.count
}
