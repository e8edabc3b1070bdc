/**
 * The ledger's SQL. Each function is one statement, or one transaction where its comment says so.
 */

import type { Sql, TransactionSql } from 'postgres'
import type { CallLabels } from '../../base/lib/call-labels.ts'
import type { CreditKind, EndedStatus } from '../../base/lib/kinds-and-states.ts'
import { formatAmount, NANOS_MAX, type Nanos } from '../../base/lib/money.ts'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { stringifyStorable } from '../../base/lib/text/well-formed.ts'
import type { HoldLimits, OverLimit } from './hold-limits.ts'

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
  readonly estimate: Readonly<Record<string, unknown>>
  readonly labels?: CallLabels | undefined
  readonly spend_limit: string | null
  readonly idempotency_key: string | null
  readonly route: string | null
  readonly fingerprint: string | null
  readonly limits?: HoldLimits | undefined
  /** Nano-units that the call may cost beyond the hold; absent: none. */
  readonly excess?: string
}

export type HoldVerdict =
  | 'held'
  | 'already'
  | 'insufficient'
  | 'in_debt'
  | 'no_account'
  | 'duplicate'
  | 'late'
  | 'uncovered'
  | OverBudget
  | OverLimit

/**
 * The budget that a hold does not fit, and when it resets; empty if never. A spend limit has the id
 * of its key.
 */
export type OverBudget = `budget:${string} ${string}`

export interface SettleRow {
  readonly hold_id: string
  /** The ledger looks it up if absent. */
  readonly account_id?: string
  /** The hold's amount in nano-units, if known: it makes a settlement cheaper. */
  readonly held?: string
  /** Nano-units as a decimal integer; null releases the hold. */
  readonly charge: string | null
  readonly status: EndedStatus
  readonly basis: string
  readonly review: boolean
  readonly lines: unknown
  readonly attempts: unknown
  /** Nano-units as a decimal integer; null if unknown. */
  readonly upstream_cost: string | null
  readonly upstream_cost_version: string | null
  readonly error: string | null
  readonly task_id: string | null
  readonly answer: StoredAnswer | null
  /** Tokens that counted towards limits and were not used; negative if more were. */
  readonly returned_tokens?: { readonly tokens: number; readonly names: readonly string[] }
}

/** The answer stored for an Idempotency-Key; `forget` frees the key for another request. */
export interface StoredAnswer {
  readonly key: string
  readonly state: 'finished' | 'streamed' | 'forget'
  /** The request's route and fingerprint, for a key that was freed while the request still ran. */
  readonly route?: string
  /** Hexadecimal. */
  readonly fingerprint?: string
  readonly status?: number
  readonly content_type?: string
  /** Base64. */
  readonly body?: string
}

/**
 * `corrected`: the hold had been closed as lost, and the difference is posted. `superseded`: it had
 * been closed as lost, and its Idempotency-Key has since been charged for another request, so
 * nothing more is charged. `archived`: it was closed so long ago that it is no longer in the
 * database, and nothing was posted.
 */
export type SettleVerdict =
  | 'closed'
  | 'already'
  | 'unknown'
  | 'corrected'
  | 'superseded'
  | 'archived'

export interface StoredCheckpoint {
  readonly charge: string
  readonly lines: unknown
  readonly attempts: unknown
  readonly upstream_cost: string | null
  readonly upstream_cost_version: string | null
}

export interface CheckpointRow {
  readonly hold_id: string
  readonly account_id: string
  readonly checkpoint: StoredCheckpoint
}

export interface BalanceRow {
  readonly currency: string
  readonly available: bigint
  readonly held: bigint
  readonly debt: bigint
}

/** Stores, for many running calls at once, the charge that applies if this process dies now. */
export async function writeCheckpoints(sql: Sql, rows: readonly CheckpointRow[]): Promise<void> {
  await sql`
    update hold set checkpoint = c.checkpoint
    from jsonb_to_recordset(${stringifyStorable(rows)}::text::jsonb)
      as c(hold_id text, account_id text, checkpoint jsonb)
    where hold.id = c.hold_id and hold.account_id = c.account_id and hold.state = 'open'`
}

export async function readBalance(
  sql: Sql | TransactionSql,
  accountId: string,
): Promise<BalanceRow | undefined> {
  const [row] = await sql<BalanceRow[]>`
    select currency, available, held, debt from balance where account_id = ${accountId}`
  return row
}

/** Returns whether the month of a hold is archived, or is being archived. */
export async function isArchived(sql: Sql, holdId: string): Promise<boolean> {
  const [row] = await sql<{ archived: boolean }[]>`select is_archived(${holdId}) as archived`
  return row?.archived === true
}

export interface CreditRequest {
  readonly id: string
  readonly accountId: string
  readonly kind: CreditKind
  readonly amountNanos: Nanos
  readonly reason: string
  readonly actor: string
  readonly eventId: string | null
}

/**
 * Credits or debits an account; see ledger_credit. Returns false if the same id or provider event
 * was posted before. Rejects with OperatorError if that event was posted otherwise, or if the
 * balance would exceed what the books can hold; with 23503 for an unknown account; with 23514 if
 * a debit exceeds the available balance.
 */
export async function postCredit(
  sql: Sql | TransactionSql,
  credit: CreditRequest,
): Promise<boolean> {
  const [row] = await sql<{ posted: boolean }[]>`
    select ledger_credit(${credit.id}, ${credit.accountId}, ${credit.kind},
      ${credit.amountNanos.toString()}::bigint, ${credit.reason}, ${credit.actor},
      ${credit.eventId}) as posted`.catch((error: unknown) => {
    throw isOutOfRange(error) ? new OperatorError(TOO_LARGE, { cause: error }) : error
  })
  if (row?.posted) return true
  await refuseOtherCredit(sql, credit)
  return false
}

const TOO_LARGE = `no balance can be larger than ${formatAmount(NANOS_MAX)}`

function isOutOfRange(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '22003'
}

/** Refuses an event id that was used for another payment, which would be lost silently. */
async function refuseOtherCredit(
  sql: Sql | TransactionSql,
  { eventId, accountId, amountNanos }: CreditRequest,
): Promise<void> {
  if (eventId === null) return
  const [row] = await sql<{ account_id: string; amount: bigint }[]>`
    select account_id, amount from credit where event_id = ${eventId}`
  if (!row || (row.account_id === accountId && row.amount === amountNanos)) return
  throw new OperatorError(`event ${eventId} was posted to another account or with another amount`)
}

// Idempotency ----------------------------------------------------------------------------------

/** The hold whose request has taken an Idempotency-Key. */
export interface KeyHolder {
  readonly account_id: string
  readonly hold_id: string
}

/** Frees the Idempotency-Key of a hold that was closed without a charge and without an answer. */
export async function freeIdempotencyKey(
  sql: Sql | TransactionSql,
  hold: KeyHolder,
): Promise<void> {
  await sql`
    delete from idempotency where account_id = ${hold.account_id} and hold_id = ${hold.hold_id}
      and state = 'running'`
}

/** Keeps the key of a request that was charged without an answer, so that it never runs twice. */
export async function keepKey(sql: Sql | TransactionSql, hold: KeyHolder): Promise<void> {
  await sql`
    update idempotency set state = 'streamed'
    where account_id = ${hold.account_id} and hold_id = ${hold.hold_id} and state = 'running'`
}

export interface AnswerRow {
  readonly route: string
  readonly fingerprint: Buffer
  readonly request_id: string
  readonly state: 'running' | 'finished' | 'streamed' | 'lost'
  readonly status: number | null
  readonly content_type: string | null
  readonly body: Buffer | null
  /** The charge in the record of the request; null while it runs. */
  readonly charge: {
    readonly nanos: string
    readonly currency: string
    readonly basis: string
    readonly review: boolean
  } | null
}

/** Finds the answer of a key, and deletes a key that has expired: the request takes it anew. */
export async function findAnswer(
  sql: Sql,
  accountId: string,
  key: string,
): Promise<AnswerRow | undefined> {
  const [row] = await sql<AnswerRow[]>`
    with expired as (
      delete from idempotency where account_id = ${accountId} and key = ${key}
        and created_at <= now() - interval '24 hours' and state <> 'running')
    select i.route, i.fingerprint, i.request_id, i.state, i.status, i.content_type, i.body,
      (select jsonb_build_object('nanos', c.charged::text, 'currency', c.currency,
        'basis', c.basis, 'review', c.review)
      from call c
      where c.request_id = i.request_id and c.account_id = i.account_id) as charge
    from idempotency i where i.account_id = ${accountId} and i.key = ${key}
      and (i.created_at > now() - interval '24 hours' or i.state = 'running')`
  return row
}

/** Stores the answer that replays of this Idempotency-Key receive. */
export async function keepAnswer(
  sql: TransactionSql,
  hold: KeyHolder,
  answer: { readonly status: number; readonly contentType: string; readonly body: Buffer },
): Promise<void> {
  await sql`
    update idempotency set state = 'finished', status = ${answer.status},
      content_type = ${answer.contentType}, body = ${answer.body}
    where account_id = ${hold.account_id} and hold_id = ${hold.hold_id} and state = 'running'`
}

/** Deletes up to `limit` keys that have expired. Returns their number. */
export async function deleteExpiredKeys(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from idempotency where (account_id, key) in (
      select account_id, key from idempotency
      where created_at < now() - interval '24 hours' and state <> 'running' limit ${limit})`
  return deleted.count
}
