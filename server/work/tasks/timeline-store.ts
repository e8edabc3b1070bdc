/** The SQL of a task's timeline, its attempts, and upstream costs that no caller is charged. */
import type { Sql, TransactionSql } from 'postgres'
import type { JsonObject } from '../../base/lib/json.ts'
import type { Nanos } from '../../base/lib/money.ts'
import { stringifyStorable } from '../../base/lib/text/well-formed.ts'
import type { AttemptState, ClaimedTask } from './task.ts'

type AnySql = Sql | TransactionSql

export async function addEvent(
  sql: AnySql,
  taskId: string,
  kind: string,
  detail: JsonObject = {},
): Promise<void> {
  await sql`
    insert into task_event (task_id, kind, detail)
    values (${taskId}, ${kind}, ${stringifyStorable(detail)}::text::jsonb)`
}

export interface AttemptRow {
  readonly channel_id: string
  readonly upstream_model: string
  readonly state: AttemptState
  readonly status: number | null
  readonly failure: string | null
  readonly milliseconds: number
}

export function listAttempts(sql: AnySql, taskId: string): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select channel_id, upstream_model, state, status, failure,
      round(extract(epoch from coalesce(ended_at, now()) - coalesce(sent_at, prepared_at))
        * 1000)::int as milliseconds
    from task_attempt where task_id = ${taskId} order by number`
}

/** Records an upstream cost that no caller is charged; once per attempt. */
export async function addUnchargedCost(
  sql: AnySql,
  attemptId: string,
  uncharged: {
    readonly reason: string
    readonly upstreamId: string | null
    /** Upper bound; null when unknown. */
    readonly cost: { readonly nanos: Nanos } | null
  },
): Promise<void> {
  const { reason, upstreamId, cost } = uncharged
  await sql`
    insert into uncharged_cost (attempt_id, task_id, channel_id, upstream_model, upstream_id,
      reason, upstream_cost)
    select id, task_id, channel_id, upstream_model, coalesce(upstream_id, ${upstreamId}), ${reason},
      ${cost?.nanos.toString() ?? null}::bigint
    from task_attempt where id = ${attemptId}
    on conflict (attempt_id) do nothing`
}

/**
 * Commits that a cancel is about to be sent, or that it was refused. False when the lease is lost.
 */
export async function markCancelSent(
  sql: Sql,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'fence'>,
  isSent = true,
): Promise<boolean> {
  const updated = await sql`
    update task set cancel_sent_at = case when ${isSent} then now() end
    where id = ${task.id} and account_id = ${task.account_id}
      and fence = ${task.fence.toString()}::bigint and due_at is not null`
  return updated.count === 1
}

// Reconciliation -------------------------------------------------------------------------------

/** Returns the upstream ids among `ids` that belong to an attempt of ours. */
export async function knownUpstreamIds(
  sql: Sql,
  channelId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ upstream_id: string }[]>`
    select upstream_id from task_attempt
    where channel_id = ${channelId} and upstream_id = any(${ids as string[]}::text[])`
  return new Set(rows.map((row) => row.upstream_id))
}

/**
 * Counts the other attempts around that time that may have created an upstream task whose id no
 * attempt has: their outcome is unknown, or they were given up, or the upstream reported an
 * internal error.
 */
export async function countUnresolved(
  sql: Sql,
  attempt: { readonly id: string; readonly channelId: string; readonly upstreamModel: string },
  around: Date,
  skewMs: number,
): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    select count(*)::int as open from task_attempt
    where channel_id = ${attempt.channelId} and upstream_model = ${attempt.upstreamModel}
      and (state in ('sending', 'unknown', 'given_up')
        or (state = 'refused' and status >= 500 and status <> 503))
      and id <> ${attempt.id}
      and sent_at between ${around}::timestamptz - ${skewMs}::float8 * interval '1 millisecond'
        and ${around}::timestamptz + ${skewMs}::float8 * interval '1 millisecond'`
  return row?.open ?? 0
}

/** Counts one pass of reconciliation over an attempt of unknown outcome. */
export async function countPass(sql: Sql, attemptId: string): Promise<void> {
  await sql`update task_attempt set passes = passes + 1, state = 'unknown'
    where id = ${attemptId} and state in ('sending', 'unknown')`
}
