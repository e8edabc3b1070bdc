/** The SQL of the index of calls by end user; see label-indexes.ts. */
import type { Sql } from 'postgres'

/** Returns whether the index is absent, or was left unfinished by a build. */
export async function lacksIndex(sql: Sql): Promise<boolean> {
  const [built] = await sql`
    select from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = 'call'::regclass and i.indisvalid and c.relname = 'call_by_end_user'`
  return built === undefined
}

/** Builds the index beside the calls, unless another gateway is building it. */
export async function buildIndex(alone: Sql): Promise<void> {
  const [lock] = await alone<{ taken: boolean }[]>`
    select pg_try_advisory_lock(hashtext('tributary label indexes')) as taken`
  // Another gateway may have built it since it was asked for.
  if (!lock?.taken || !(await lacksIndex(alone))) return
  await alone`drop index concurrently if exists call_by_end_user`
  await alone`
    create index concurrently call_by_end_user
    on call (account_id, (labels ->> 'end_user'), created_at desc, request_id desc)
    where labels ->> 'end_user' is not null`
}
