/** SQL of the figures of operation: queues and connections. Read for metrics every few seconds. */
import type { Sql } from 'postgres'

export interface QueueRow {
  readonly queue: 'tasks' | 'webhooks' | 'mails' | 'copies'
  /** Everything that has not ended. */
  readonly open: number
  /** The part that is due and not taken. */
  readonly due: number
  /** The time for which the oldest of these has been due. */
  readonly due_seconds: number
}

/** A task or copy that is being worked on is due again when its lease ends. */
export function readQueues(sql: Sql): Promise<QueueRow[]> {
  return sql<QueueRow[]>`
    select queue, count(*)::int as open, count(*) filter (where due_at <= now())::int as due,
      coalesce(extract(epoch from now() - min(due_at) filter (where due_at <= now())), 0)::float8
        as due_seconds
    from (
      select 'tasks' as queue, due_at from task where due_at is not null
      union all
      select 'webhooks', due_at from delivery
      where state = 'pending' and (lease_until is null or lease_until <= now())
      union all
      select 'webhooks', null from delivery where state = 'pending' and lease_until > now()
      union all
      select 'mails', case when lease_until > now() then null else due_at end from mail
      where state = 'pending'
      union all
      select 'copies', due_at from asset where due_at is not null
    ) waiting group by queue`
}

/** Further dropped deliveries are not counted. */
const DROPPED_MAX = 10_000

/** Counts the webhooks of the last day that were given up and that nobody has sent again. */
export async function countDroppedWebhooks(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select 1 from delivery d
      where d.state = 'dropped' and d.created_at > now() - interval '1 day'
        and not exists (select 1 from delivery r where r.repeats = d.id)
      limit ${DROPPED_MAX}) dropped`
  return row?.count ?? 0
}

export interface FailingPollsRow {
  readonly channel: string
  readonly tasks: number
}

/** Failed polls in a row from which on a task counts as failing. */
export const FAILURES_STATED = 5

/** Counts the open tasks whose polls keep failing, by channel. */
export function readFailingPolls(sql: Sql): Promise<FailingPollsRow[]> {
  return sql<FailingPollsRow[]>`
    select channel_id as channel, count(*)::int as tasks from task
    where due_at is not null and failures >= ${FAILURES_STATED} group by 1`
}

export interface ConnectionRow {
  readonly state: string
  readonly connections: number
}

/** Counts the connections of all gateways to this database by their state. */
export function readConnections(sql: Sql): Promise<ConnectionRow[]> {
  return sql<ConnectionRow[]>`
    select case when state like 'idle in transaction%' then 'in_transaction'
        when state = 'idle' then 'idle' else 'active' end as state, count(*)::int as connections
    from pg_stat_activity
    where datname = current_database() and application_name like 'tributary%'
    group by 1`
}
