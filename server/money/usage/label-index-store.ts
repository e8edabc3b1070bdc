/** The SQL of indexes of calls by label; see label-indexes.ts. */
import type { Sql } from 'postgres'

const NAMES = ['call_by_end_user', 'call_by_tag'] as const
type IndexName = (typeof NAMES)[number]

/** Lists the indexes that are absent, or that a build left unfinished. */
export async function listMissingIndexes(sql: Sql): Promise<IndexName[]> {
  const built = await sql<{ name: string }[]>`
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = 'call'::regclass and i.indisvalid
      and c.relname = any(${[...NAMES]}::text[])`
  return NAMES.filter((name) => !built.some((one) => one.name === name))
}

/**
 * Builds an index beside the calls. False if another gateway is building one. The tags of an
 * account are found with its id, so that those of other accounts cost it nothing.
 */
export async function buildIndex(alone: Sql, name: IndexName): Promise<boolean> {
  const [lock] = await alone<{ taken: boolean }[]>`
    select pg_try_advisory_lock(hashtext('tributary label indexes')) as taken`
  if (!lock?.taken) return false
  // Another gateway may have built it since it was listed.
  if (!(await listMissingIndexes(alone)).includes(name)) return true
  await alone`drop index concurrently if exists ${alone(name)}`
  if (name === 'call_by_end_user') {
    await alone`
      create index concurrently call_by_end_user
      on call (account_id, (labels ->> 'end_user'), created_at desc, request_id desc)
      where labels ->> 'end_user' is not null`
  } else {
    await alone`
      create index concurrently call_by_tag on call using gin (string_to_array(
        '"' || account_id || ', ' || translate(labels ->> 'tags', '["]', ''), ', '))
      where labels ? 'tags'`
  }
  return true
}
