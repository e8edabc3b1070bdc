/** SQL of container sessions. */
import type { Sql } from 'postgres'

export interface ContainerSession {
  readonly id: string
  readonly minutes: number
}

/**
 * Claims the sessions of a channel's containers for a request, in one statement. Returns the ids of
 * the containers whose session the request pays: of containers without one, of sessions that have
 * ended, of those that the request had claimed before, and of those whose request ended without a
 * charge for a container. The ids must differ.
 */
export async function insertSessions(
  sql: Sql,
  requestId: string,
  channelId: string,
  containers: readonly ContainerSession[],
): Promise<readonly string[]> {
  const ids = containers.map(({ id }) => id)
  const minutes = containers.map((container) => container.minutes)
  const rows = await sql<{ container_id: string }[]>`
    insert into container_session as s (channel_id, container_id, request_id, minutes)
    select ${channelId}, c.id, ${requestId}, c.minutes
    from unnest(${ids}::text[], ${minutes}::integer[]) as c(id, minutes)
    order by c.id
    on conflict (channel_id, container_id) do update
      set request_id = excluded.request_id, minutes = excluded.minutes,
        started_at = case when s.request_id = excluded.request_id then s.started_at
          else excluded.started_at end
      where s.request_id = excluded.request_id
        or s.started_at + s.minutes * interval '1 minute' <= excluded.started_at
        or exists (select from call c where c.request_id = s.request_id
          and not c.lines @> '[{"unit": "container_minute"}]')
    returning s.container_id`
  return rows.map((row) => row.container_id)
}

/** Deletes up to `limit` sessions older than a day. Returns their number. */
export async function deleteOldSessions(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from container_session where (channel_id, container_id) in (
      select channel_id, container_id from container_session
      where started_at < now() - interval '1 day' limit ${limit})`
  return deleted.count
}
