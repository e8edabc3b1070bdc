/** The statements for answers that vendors keep. */
import type { Sql } from 'postgres'

export interface StoredAnswerRow {
  readonly channel_id: string
  /** Input and output of all its turns together; null where nobody stated them. */
  readonly tokens: number | null
}

/** An id that another account holds stays that account's; tokens may become known later. */
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
