/**
 * SQL that moves money for calls: a batch is sent as arrays, one per field, and only deviating
 * outcomes are returned.
 */
import type { Sql, TransactionSql } from 'postgres'
import { stringifyStorable } from '../../lib/text/well-formed.ts'
import type { HoldRow, HoldVerdict, SettleRow, SettleVerdict } from '../store.ts'

type Client = Sql | TransactionSql

/** The outcome of each item of a batch, by hold id. */
export interface Verdicts<Verdict> {
  get(id: string): Verdict | undefined
}

/** Alternating ids and verdicts. */
interface TakeAnswer {
  readonly not_taken: readonly string[]
}

interface CloseAnswer {
  readonly not_closed: readonly string[]
}

/**
 * Takes holds in one statement. Returns the verdicts by hold id: `late` for all if the database
 * reaches the statement after `deadline`, by its own clock.
 */
export async function takeHolds(
  sql: Client,
  holds: readonly HoldRow[],
  deadline?: Date,
): Promise<Verdicts<HoldVerdict>> {
  const [answer] = await sql<TakeAnswer[]>`select ${take(sql, holds, deadline)} as not_taken`
  return readTaken(answer)
}

/** Closes holds and writes their usage records in one statement. */
export async function closeHolds(
  sql: Client,
  settlements: readonly SettleRow[],
): Promise<Verdicts<SettleVerdict>> {
  const [answer] = await sql<CloseAnswer[]>`select ${close(sql, settlements, [])} as not_closed`
  return readClosed(answer)
}

/** Closes holds, then takes new ones, in one statement and one commit. */
export async function move(
  sql: Client,
  settlements: readonly SettleRow[],
  holds: readonly HoldRow[],
  deadline?: Date,
): Promise<{
  readonly closed: Verdicts<SettleVerdict>
  readonly taken: Verdicts<HoldVerdict>
}> {
  const [answer] = await sql<(CloseAnswer & TakeAnswer)[]>`
    with closed as materialized (select ${close(sql, settlements, holds)} as not_closed)
    select not_closed, ${take(sql, holds, deadline)} as not_taken from closed`
  return { closed: readClosed(answer), taken: readTaken(answer) }
}

function take(sql: Client, rows: readonly HoldRow[], deadline: Date | undefined) {
  const [one, ...others] = rows
  if (one && others.length === 0 && one.spend_limit === null && one.idempotency_key === null) {
    return sql`ledger_take_one(${one.id}, ${one.request_id}, ${one.account_id}, ${one.key_id},
      ${one.owner_id}, ${one.task_id}, ${one.endpoint}, ${one.model}, ${one.price_version}::bigint,
      ${one.amount}::bigint, ${stringifyStorable(one.estimate ?? {})}::text::jsonb,
      ${deadline?.toISOString() ?? null}::text::timestamptz)`
  }
  const has = (field: 'spend_limit' | 'idempotency_key') => rows.some((row) => row[field] !== null)
  const named = has('idempotency_key')
  return sql`ledger_take(
    ${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.request_id)}::text[],
    ${rows.map((row) => row.account_id)}::text[], ${rows.map((row) => row.key_id)}::text[],
    ${rows.map((row) => row.owner_id)}::text[], ${rows.map((row) => row.task_id)}::text[],
    ${rows.map((row) => row.endpoint)}::text[], ${rows.map((row) => row.model)}::text[],
    ${rows.map((row) => row.price_version)}::bigint[], ${rows.map((row) => row.amount)}::bigint[],
    ${stringifyStorable(rows.map((row) => row.estimate ?? {}))}::text::jsonb,
    ${has('spend_limit') ? rows.map((row) => row.spend_limit) : null}::bigint[],
    ${named ? rows.map((row) => row.idempotency_key) : null}::text[],
    ${named ? rows.map((row) => row.route) : null}::text[],
    ${named ? rows.map((row) => row.fingerprint) : null}::text[],
    ${deadline?.toISOString() ?? null}::text::timestamptz)`
}

/** `next` are the holds that the same statement takes afterwards. */
function close(sql: Client, rows: readonly SettleRow[], next: readonly HoldRow[]) {
  const [one, ...others] = rows
  if (one && others.length === 0 && isPlain(one, next)) return closeOne(sql, one)
  const details = rows.map(describe)
  return sql`ledger_close(
    ${rows.map((row) => row.hold_id)}::text[], ${rows.map((row) => row.account_id ?? null)}::text[],
    ${rows.map((row) => row.charge)}::bigint[], ${rows.map((row) => row.status)}::text[],
    ${rows.map((row) => row.basis)}::text[], ${rows.map((row) => String(row.review))}::boolean[],
    ${rows.map((row) => row.upstream_cost)}::bigint[],
    ${rows.map((row) => row.upstream_cost_version)}::bigint[],
    ${rows.map((row) => row.error)}::text[], ${rows.map((row) => row.task_id)}::text[],
    ${stringifyStorable(details)}::text::jsonb,
    ${next.map((row) => row.account_id)}::text[])`
}

/** Locks no other balance than its own, so the holds after it must be the same account's. */
function isPlain(row: SettleRow, next: readonly HoldRow[]): boolean {
  if (row.account_id === undefined || row.held === undefined) return false
  if (row.answer !== null || row.task_id !== null) return false
  return next.every((hold) => hold.account_id === row.account_id)
}

function closeOne(sql: Client, row: SettleRow) {
  const { lines, attempts } = describe(row)
  return sql`ledger_close_one(${row.hold_id}, ${row.account_id ?? null},
    ${row.held ?? null}::bigint, ${row.charge}::bigint, ${row.status}, ${row.basis}, ${row.review},
    ${row.upstream_cost}::bigint, ${row.upstream_cost_version}::bigint, ${row.error},
    ${stringifyStorable(lines)}::text::jsonb, ${stringifyStorable(attempts)}::text::jsonb)`
}

/**
 * Returns those accounts that no transaction has locked; a locked one would delay a whole batch.
 */
export async function findUnlocked(
  sql: Sql,
  accountIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ account_id: string }[]>`
    select account_id from balance where account_id = any(${accountIds as string[]}::text[])
    order by account_id for update skip locked`
  return new Set(rows.map((row) => row.account_id))
}

/** Posts the difference to the charge of a lost call, once; see ledger_correct. */
export async function correctLost(sql: Sql, row: SettleRow): Promise<SettleVerdict> {
  const [answer] = await sql<{ verdict: SettleVerdict }[]>`
    select ledger_correct(${row.hold_id}, ${row.charge}::bigint, ${row.status}, ${row.basis},
      ${row.review}, ${row.upstream_cost}::bigint, ${row.upstream_cost_version}::bigint,
      ${row.error},
      ${stringifyStorable(describe(row))}::text::jsonb) as verdict`
  return answer?.verdict ?? 'unknown'
}

function describe({ lines, attempts, answer }: SettleRow) {
  return { lines: lines ?? [], attempts: attempts ?? [], ...(answer ? { answer } : {}) }
}

function readTaken(answer: TakeAnswer | undefined): Verdicts<HoldVerdict> {
  if (!answer) throw new Error('the ledger returned no result')
  const refused = readPairs(answer.not_taken)
  return { get: (id) => (refused.get(id) as HoldVerdict | undefined) ?? 'held' }
}

function readClosed(answer: CloseAnswer | undefined): Verdicts<SettleVerdict> {
  if (!answer) throw new Error('the ledger returned no result')
  const refused = readPairs(answer.not_closed)
  return { get: (id) => (refused.get(id) as SettleVerdict | undefined) ?? 'closed' }
}

function readPairs(words: readonly string[]): ReadonlyMap<string, string> {
  const verdicts = new Map<string, string>()
  for (let index = 0; index + 1 < words.length; index += 2) {
    verdicts.set(words[index] ?? '', words[index + 1] ?? '')
  }
  return verdicts
}
