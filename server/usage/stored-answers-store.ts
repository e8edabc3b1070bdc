/** SQL of answers stored at vendors. */
import type { Sql } from 'postgres'

export interface StoredAnswerRow {
  readonly channel_id: string
  /** Input and output tokens of all its turns; null if unknown. */
  readonly tokens: number | null
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

export async function deleteStoredAnswer(sql: Sql, accountId: string, id: string): Promise<void> {
  await sql`delete from stored_answer where id = ${id} and account_id = ${accountId}`
}
