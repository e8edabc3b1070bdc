/** The ledger's SQL. Each function is one statement, or one transaction that says so. */
import type { Sql, TransactionSql } from 'postgres'
import type { Nanos } from '../lib/money.ts'
import { stringifyStorable } from '../lib/well-formed.ts'

export interface HoldRow {
  readonly id: string
  readonly request_id: string
  readonly account_id: string
  readonly key_id: string
  readonly owner_id: string | null
  readonly task_id: string | null
  readonly endpoint: string
  readonly model: string
  readonly price_version: string | null
  readonly amount: string
  readonly estimate: unknown
  readonly spend_limit: string | null
  readonly idempotency_key: string | null
  readonly route: string | null
  readonly fingerprint: string | null
}

export type HoldVerdict =
  | 'held'
  | 'already'
  | 'insufficient'
  | 'in_debt'
  | 'spend_limit'
  | 'no_account'
  | 'duplicate'

export interface SettleRow {
  readonly hold_id: string
  /** Absent: the ledger looks it up. */
  readonly account_id?: string
  /** Decimal nano-units; null releases the hold. */
  readonly charge: string | null
  readonly status: 'succeeded' | 'failed' | 'cancelled' | 'lost'
  readonly basis: string
  readonly review: boolean
  readonly lines: unknown
  readonly attempts: unknown
  /** Decimal nano-units; null is unknown. */
  readonly cost: string | null
  readonly cost_version: string | null
  readonly error: string | null
  readonly task_id: string | null
  readonly answer: StoredAnswer | null
}

/** What is kept for an Idempotency-Key; `forget` frees the key for another try. */
export interface StoredAnswer {
  readonly key: string
  readonly state: 'finished' | 'streamed' | 'forget'
  readonly status?: number
  readonly content_type?: string
  /** Base64. */
  readonly body?: string
}

export type SettleVerdict = 'closed' | 'already' | 'unknown'

export interface StoredCheckpoint {
  readonly charge: string
  readonly lines: unknown
  /** Absent in those that an older version wrote. */
  readonly attempts?: unknown
  readonly cost?: string | null
  readonly cost_version?: string | null
}

export interface CheckpointRow {
  readonly hold_id: string
  readonly checkpoint: StoredCheckpoint
}

export interface BalanceRow {
  readonly currency: string
  readonly available: bigint
  readonly held: bigint
  readonly debt: bigint
}

/** Notes for many running calls at once what each would owe if this process died now. */
export async function writeCheckpoints(sql: Sql, rows: readonly CheckpointRow[]): Promise<void> {
  await sql`
    update hold set checkpoint = c.checkpoint
    from jsonb_to_recordset(${stringifyStorable(rows)}::text::jsonb)
      as c(hold_id text, checkpoint jsonb)
    where hold.id = c.hold_id and hold.state = 'open'`
}

export async function readBalance(
  sql: Sql | TransactionSql,
  accountId: string,
): Promise<BalanceRow | undefined> {
  const [row] = await sql<BalanceRow[]>`
    select currency, available, held, debt from balance where account_id = ${accountId}`
  return row
}

/**
 * Credits or debits an account; see ledger_credit. Returns false when the same id or provider
 * event had been posted before. Throws 23503 for an unknown account, 23514 when a debit exceeds
 * what is available.
 */
export async function postCredit(
  sql: Sql | TransactionSql,
  credit: {
    readonly id: string
    readonly accountId: string
    readonly kind: 'top_up' | 'promotion' | 'adjustment' | 'forgiveness'
    readonly amountNanos: Nanos
    readonly reason: string
    readonly actor: string
    readonly eventId: string | null
  },
): Promise<boolean> {
  const [row] = await sql<{ posted: boolean }[]>`
    select ledger_credit(${credit.id}, ${credit.accountId}, ${credit.kind},
      ${credit.amountNanos.toString()}::bigint, ${credit.reason}, ${credit.actor},
      ${credit.eventId}) as posted`
  return row?.posted ?? false
}

// Owner leases ---------------------------------------------------------------------------------

/** Registers or renews a process's lease by the database's clock. */
export async function renewLease(
  sql: Sql,
  owner: { readonly id: string; readonly address: string; readonly leaseSeconds: number },
): Promise<void> {
  await sql`
    insert into owner (id, address, lease_until)
    values (${owner.id}, ${owner.address}, now() + make_interval(secs => ${owner.leaseSeconds}))
    on conflict (id) do update set lease_until = excluded.lease_until`
}

export async function endLease(sql: Sql, ownerId: string): Promise<void> {
  await sql`update owner set lease_until = now() where id = ${ownerId}`
}

/** Declares every other process dead: true on an embedded database, which has one owner. */
export async function endOtherLeases(sql: Sql, ownerId: string): Promise<void> {
  await sql`update owner set lease_until = now() where id <> ${ownerId} and lease_until > now()`
}

/** How many processes hold a live lease; at least 1. */
export async function countLiveOwners(sql: Sql): Promise<number> {
  const [row] = await sql<{ live: number }[]>`
    select greatest(count(*), 1)::int as live from owner where lease_until > now()`
  return row?.live ?? 1
}

export interface OrphanedHold {
  readonly id: string
  readonly checkpoint: StoredCheckpoint | null
  readonly amount: bigint
}

/** Open holds of calls whose process is dead. Tasks are not among them: they have no owner. */
export function findOrphanedHolds(sql: Sql, limit: number): Promise<OrphanedHold[]> {
  return sql<OrphanedHold[]>`
    select h.id, h.checkpoint, h.amount
    from hold h left join owner o on o.id = h.owner_id
    where h.state = 'open' and h.task_id is null
      and (o.id is null or o.lease_until < now())
      and h.created_at < now() - interval '1 second'
    order by h.id limit ${limit}`
}

/** Frees the Idempotency-Keys of holds that were closed for a dead process. */
export async function forgetAnswers(
  sql: Sql | TransactionSql,
  holdIds: readonly string[],
): Promise<void> {
  await sql`delete from idempotency where hold_id = any(${holdIds as string[]})
    and state = 'running'`
}

/** Drops leases that ended long ago and Idempotency-Keys older than their 24 hours. */
export async function dropExpired(sql: Sql): Promise<void> {
  await sql`
    delete from owner o where o.lease_until < now() - interval '10 minutes'
      and not exists (select 1 from hold h where h.owner_id = o.id and h.state = 'open')`
  await sql`
    delete from idempotency where (account_id, key) in (
      select account_id, key from idempotency
      where created_at < now() - interval '24 hours' and state <> 'running' limit 10000)`
}

// Idempotency ----------------------------------------------------------------------------------

export interface AnswerRow {
  readonly route: string
  readonly fingerprint: Buffer
  readonly request_id: string
  readonly state: 'running' | 'finished' | 'streamed'
  readonly status: number | null
  readonly content_type: string | null
  readonly body: Buffer | null
}

export async function findAnswer(
  sql: Sql,
  accountId: string,
  key: string,
): Promise<AnswerRow | undefined> {
  const [row] = await sql<AnswerRow[]>`
    select route, fingerprint, request_id, state, status, content_type, body
    from idempotency where account_id = ${accountId} and key = ${key}
      and (created_at > now() - interval '24 hours' or state = 'running')`
  return row
}

/** Keeps the answer under which an Idempotency-Key's request is known from now on. */
export async function keepAnswer(
  sql: TransactionSql,
  holdId: string,
  answer: { readonly status: number; readonly contentType: string; readonly body: Buffer },
): Promise<void> {
  await sql`
    update idempotency set state = 'finished', status = ${answer.status},
      content_type = ${answer.contentType}, body = ${answer.body}
    where hold_id = ${holdId} and state = 'running'`
}
