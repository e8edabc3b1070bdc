/**
 * The SQL that creates tasks and changes their state. Every write to a claimed task names its
 * fencing token, so that a process that lost its lease writes nothing.
 */
import type { Sql, TransactionSql } from 'postgres'
import type { JsonObject } from '../../base/lib/json.ts'
import type { TaskKind } from '../../base/lib/kinds-and-states.ts'
import { stringifyStorable } from '../../base/lib/text/well-formed.ts'
import type { Quantities } from '../../base/lib/units.ts'
import type { PreparedTask } from '../../wire/upstreams/task-driver.ts'
import type { ClaimedTask, TaskRow, TaskState } from './task.ts'

type AnySql = Sql | TransactionSql

/** A task's id, and its account, which leads to its database. */
export type OwnTask = Pick<TaskRow, 'id' | 'account_id'>

export interface NewTask {
  readonly id: string
  readonly kind: TaskKind
  readonly accountId: string
  readonly keyId: string
  readonly requestId: string
  readonly holdId: string
  readonly endpoint: string
  readonly model: string
  readonly request: JsonObject
  readonly prepared: PreparedTask
  readonly webhookUrl: string | null
  /** The quote of a background response or a deferred call; see ClaimedTask. */
  readonly quote: JsonObject | null
  readonly ageMsMax: number
  /** `queued`: a worker starts it; `submitting`: the process that creates it submits it. */
  readonly state: 'submitting' | 'queued'
  /** Milliseconds until a worker may claim it. */
  readonly dueInMs: number
}

export interface NewAttempt {
  readonly id: string
  readonly taskId: string
  readonly number: number
  readonly channelId: string
  readonly channelVersion: number
  readonly upstreamModel: string
  /** Version of the current upstream costs; null when they are unknown. */
  readonly upstreamCostVersion: bigint | null
}

export async function insertTask(
  sql: TransactionSql,
  task: NewTask,
  attempt: NewAttempt,
): Promise<void> {
  const inserted = sql`
    insert into task (id, kind, account_id, key_id, request_id, hold_id, endpoint, model, state,
      request, quantities, facts, quote, attempt_id, channel_id, webhook_url, due_at, expires_at)
    values (${task.id}, ${task.kind}, ${task.accountId}, ${task.keyId}, ${task.requestId},
      ${task.holdId}, ${task.endpoint}, ${task.model}, ${task.state},
      ${stringifyStorable(task.request)}::text::jsonb,
      ${stringifyStorable(task.prepared.quantities)}::text::jsonb,
      ${stringifyStorable(task.prepared.facts)}::text::jsonb,
      ${task.quote && stringifyStorable(task.quote)}::text::jsonb, ${attempt.id},
      ${attempt.channelId}, ${task.webhookUrl},
      now() + ${task.dueInMs}::float8 * interval '1 millisecond',
      now() + ${task.ageMsMax}::float8 * interval '1 millisecond')`
  await Promise.all([inserted, insertAttempt(sql, attempt)])
}

async function insertAttempt(sql: AnySql, attempt: NewAttempt): Promise<void> {
  await sql`
    insert into task_attempt (id, task_id, number, channel_id, channel_version, upstream_model,
      upstream_cost_version)
    values (${attempt.id}, ${attempt.taskId}, ${attempt.number}, ${attempt.channelId},
      ${attempt.channelVersion}, ${attempt.upstreamModel},
      ${attempt.upstreamCostVersion?.toString() ?? null}::bigint)`
}

/** Makes a new attempt the current one. False when the lease is lost. */
export async function moveToAttempt(
  sql: TransactionSql,
  task: Pick<ClaimedTask, 'account_id' | 'fence'>,
  attempt: NewAttempt,
  prepared: Pick<PreparedTask, 'quantities' | 'facts' | 'effective'>,
): Promise<boolean> {
  const updated = await sql`
    update task set attempt_id = ${attempt.id}, channel_id = ${attempt.channelId},
      quantities = ${stringifyStorable(prepared.quantities)}::text::jsonb,
      facts = ${stringifyStorable(prepared.facts)}::text::jsonb,
      request = request || ${stringifyStorable(prepared.effective ?? {})}::text::jsonb
    where id = ${attempt.taskId} and account_id = ${task.account_id}
      and fence = ${task.fence.toString()}::bigint and due_at is not null`
  if (updated.count === 1) await insertAttempt(sql, attempt)
  return updated.count === 1
}

/**
 * Commits that an attempt is about to be sent, and renews the lease in the same statement: a worker
 * that would claim the task at this moment waits for the row and no longer finds it due. From then
 * on no recording waits for its conversion. False if the lease is lost: then send nothing.
 */
export async function markSending(
  sql: Sql,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'fence' | 'attempt_id'>,
  leaseMs: number,
): Promise<boolean> {
  const updated = await sql`
    with t as (
      update task set due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
      where id = ${task.id} and account_id = ${task.account_id}
        and fence = ${task.fence.toString()}::bigint and state = 'submitting'
      returning id, account_id),
    converted as (
      delete from task_conversion c using t
      where c.task_id = t.id and c.account_id = t.account_id)
    update task_attempt a set state = 'sending', sent_at = now()
    from t where a.task_id = t.id and a.id = ${task.attempt_id} and a.state = 'prepared'`
  return updated.count === 1
}

export async function endAttempt(
  sql: AnySql,
  attemptId: string,
  outcome: {
    readonly state: 'answered' | 'refused' | 'unknown' | 'given_up'
    readonly failure?: string
    readonly status?: number | undefined
  },
): Promise<void> {
  const failure = outcome.failure?.slice(0, 500) ?? null
  await sql`
    update task_attempt set state = ${outcome.state}, failure = ${failure},
      status = ${outcome.status ?? null}, ended_at = now()
    where id = ${attemptId} and state in ('prepared', 'sending', 'unknown')`
}

/** Records that the upstream's answer was lost, so the caller knows the task by our id. */
export async function markAnswerLost(sql: TransactionSql, task: OwnTask): Promise<void> {
  await sql`
    update task set answer_lost = true where id = ${task.id} and account_id = ${task.account_id}`
}

/**
 * Records the delivered output of a background response, and the event up to which it counts. Only
 * ever increases.
 */
export async function recordOutput(
  sql: Sql,
  task: OwnTask,
  { bytes, sequence }: { readonly bytes: number; readonly sequence: number },
): Promise<void> {
  await sql`
    update task set output_bytes = ${bytes}::float8::bigint,
      output_sequence = greatest(output_sequence, ${sequence})
    where id = ${task.id} and account_id = ${task.account_id} and due_at is not null
      and output_bytes < ${bytes}::float8::bigint`
}

/** Extends a lease. False when it is lost. */
export async function renewTask(
  sql: Sql,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'fence'>,
  leaseMs: number,
): Promise<boolean> {
  const renewed = await sql`
    update task set due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
    where id = ${task.id} and account_id = ${task.account_id}
      and fence = ${task.fence.toString()}::bigint and due_at is not null`
  return renewed.count === 1
}

/** Ends a claim: the task is due at once, and what this worker still writes is refused. */
export async function releaseTask(
  sql: Sql,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'fence'>,
): Promise<void> {
  await sql`
    update task set due_at = now(), is_claimed = false, fence = fence + 1
    where id = ${task.id} and account_id = ${task.account_id}
      and fence = ${task.fence.toString()}::bigint and due_at is not null`
}

/**
 * Records the upstream's id of a task. The answer names the task for certain, so it counts even
 * when the sender's lease is lost: whoever has claimed the task since is fenced off. False when the
 * task has ended, or another attempt or id is current. Rejects with 23505 when the id already
 * belongs to another attempt.
 */
export async function acceptTask(
  sql: TransactionSql,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'fence' | 'attempt_id'>,
  upstreamId: string,
  dueInMs: number,
): Promise<boolean> {
  const fence = task.fence.toString()
  const accepted = await sql`
    update task set state = 'queued', updated_at = now(), failures = 0, is_claimed = false,
      fence = case when fence = ${fence}::bigint then fence else fence + 1 end,
      due_at = now() + ${dueInMs}::float8 * interval '1 millisecond'
    where id = ${task.id} and account_id = ${task.account_id}
      and attempt_id = ${task.attempt_id} and state = 'submitting'`
  if (accepted.count !== 1) return false
  await sql`
    update task_attempt set state = 'accepted', upstream_id = ${upstreamId}, ended_at = now()
    where id = ${task.attempt_id}`
  return true
}

/**
 * Replaces the id of an open task that only a vendor callback named by the one that the answer to
 * its submission states, and makes it due. A poll under way loses its lease. Returns false if the
 * task has ended, or its id is from elsewhere.
 */
export async function correctUpstreamId(
  sql: TransactionSql,
  task: OwnTask & { readonly attempt_id: string },
  upstreamId: string,
): Promise<boolean> {
  const open = await sql`
    select 1 from task where id = ${task.id} and account_id = ${task.account_id}
      and attempt_id = ${task.attempt_id} and due_at is not null for update`
  if (open.count !== 1) return false
  const corrected = await sql`
    update task_attempt set upstream_id = ${upstreamId}
    where id = ${task.attempt_id} and state = 'accepted' and upstream_id = callback_upstream_id`
  if (corrected.count !== 1) return false
  await sql`update task set fence = fence + 1, is_claimed = false, due_at = now(),
      updated_at = now() where id = ${task.id} and account_id = ${task.account_id}`
  return true
}

/** The changes that a poll makes to an open task. */
export interface Reschedule {
  readonly state: TaskState
  readonly dueInMs: number
  /** The poll failed. */
  readonly failed: boolean
  /** The upstream reported the task as unknown. */
  readonly gone: boolean
}

/**
 * Ends a claim and schedules the next poll. A vendor callback since the claim keeps the due time
 * that it set, since the poll may predate its news. False when the lease is lost.
 */
export async function rescheduleTask(
  sql: AnySql,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'fence' | 'callback_count'>,
  next: Reschedule,
): Promise<boolean> {
  const updated = await sql`
    update task set state = ${next.state}, polls = polls + 1, is_claimed = false,
      updated_at = case when state <> ${next.state} then now() else updated_at end,
      failures = case when ${next.failed} then failures + 1 else 0 end,
      gone_since = case when ${next.gone} then coalesce(gone_since, now()) end,
      due_at = least(now() + ${next.dueInMs}::float8 * interval '1 millisecond',
        (select callback_due_at from task_attempt
          where id = task.attempt_id and callback_count > ${task.callback_count}))
    where id = ${task.id} and account_id = ${task.account_id}
      and fence = ${task.fence.toString()}::bigint and due_at is not null`
  return updated.count === 1
}

/** Moves a task into a terminal state by compare-and-set. Undefined when the lease is lost. */
export async function closeTask(
  sql: TransactionSql,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'fence'>,
  end: {
    readonly state: 'succeeded' | 'failed'
    readonly result: JsonObject | null
    readonly usage: Quantities | null
    readonly code: string | null
    readonly message: string | null
    /** The caller got the error synchronously and no id: send no webhook and list no task. */
    readonly silent: boolean
  },
): Promise<TaskRow | undefined> {
  const updated = await sql`
    update task set state = ${end.state}, due_at = null, finished_at = now(), updated_at = now(),
      result = ${end.result && stringifyStorable(end.result)}::text::jsonb,
      usage = ${end.usage && stringifyStorable(end.usage)}::text::jsonb,
      error_code = ${end.code}, error_message = ${end.message},
      webhook_url = case when ${end.silent} then null else webhook_url end,
      deleted_at = case when ${end.silent} then now() end
    where id = ${task.id} and account_id = ${task.account_id}
      and fence = ${task.fence.toString()}::bigint and due_at is not null`
  if (updated.count !== 1) return undefined
  const [row] = await sql<TaskRow[]>`
    select ${columns(sql)} from task t join task_attempt a on a.id = t.attempt_id
    where t.id = ${task.id} and t.account_id = ${task.account_id}`
  return row
}

/** Reads a task with all members of a claim, without claiming it. */
export async function readClaimedTask(
  sql: AnySql,
  task: OwnTask,
): Promise<ClaimedTask | undefined> {
  const [row] = await sql<ClaimedTask[]>`
    select ${columns(sql)}, ${claimColumns(sql)}
    from task t join task_attempt a on a.id = t.attempt_id
    join hold h on h.id = t.hold_id and h.account_id = t.account_id
    ${joinPrices(sql)}
    where t.id = ${task.id} and t.account_id = ${task.account_id}`
  return row
}

/** Returns the columns of a TaskRow, from task `t` and attempt `a`. */
export function columns(sql: AnySql) {
  return sql`t.id, t.kind, t.account_id, t.key_id, t.request_id, t.hold_id, t.endpoint, t.model,
    t.state, t.request, t.quantities, t.facts, t.attempt_id, t.channel_id, t.webhook_url,
    t.result, t.usage, t.error_code, t.error_message, t.fence, t.polls, t.failures,
    t.cancel_sent_at, t.created_at, t.updated_at, t.finished_at, t.answer_lost, t.output_bytes,
    t.output_sequence,
    a.channel_version, a.upstream_model, a.upstream_id, a.state as attempt_state,
    a.number as attempt_number, a.sent_at, a.passes, a.callback_upstream_id, a.callback_count`
}

/**
 * Joins the prices that the hold pins, the base prices where those are of a price list, and the
 * attempt's upstream costs, unless their currency differs from the charge's.
 */
export function joinPrices(sql: AnySql) {
  return sql`left join price p on p.version = h.price_version
    left join price base on p.list_id is not null
      and base.version = (h.labels ->> 'base_version')::bigint
    left join upstream_cost k on k.version = a.upstream_cost_version and k.currency = (
    select b.currency from balance b where b.account_id = t.account_id)`
}

/** Returns the columns that a ClaimedTask has beyond a TaskRow. */
export function claimColumns(sql: AnySql) {
  return sql`h.amount as hold_amount, t.quote, h.price_version, p.prices, p.currency,
    p.list_id as price_list, base.prices as base_prices, base.version as base_version,
    a.upstream_cost_version, k.costs, k.currency as costs_currency,
    extract(epoch from now() - t.created_at)::float8 * 1000 as age_ms,
    extract(epoch from now() - coalesce(a.sent_at, t.created_at))::float8 * 1000 as sent_ms,
    extract(epoch from now() - t.gone_since)::float8 * 1000 as gone_ms,
    t.expires_at <= now() as expired,
    extract(epoch from now() - t.expires_at)::float8 * 1000 as overdue_ms`
}
