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
export function takeHolds(
  sql: Client,
  holds: readonly HoldRow[],
  deadline?: Date,
): Promise<Verdicts<HoldVerdict>> {
  return simplyFirst(sql, async (way) => {
    const [answer] = await sql<TakeAnswer[]>`
      select ${take(sql, holds, { way, deadline })} as not_taken`
    return readTaken(answer)
  })
}

/** Closes holds and writes their usage records in one statement. */
export function closeHolds(
  sql: Client,
  settlements: readonly SettleRow[],
): Promise<Verdicts<SettleVerdict>> {
  return simplyFirst(sql, async (way) => {
    const [answer] = await sql<CloseAnswer[]>`
      select ${close(sql, settlements, { way, next: [] })} as not_closed`
    return readClosed(answer)
  })
}

/** Closes holds, then takes new ones, in one statement and one commit. */
export function move(
  sql: Client,
  settlements: readonly SettleRow[],
  holds: readonly HoldRow[],
  deadline?: Date,
): Promise<{
  readonly closed: Verdicts<SettleVerdict>
  readonly taken: Verdicts<HoldVerdict>
}> {
  return simplyFirst(sql, async (way) => {
    const [answer] = await sql<(CloseAnswer & TakeAnswer)[]>`
      with closed as materialized (
        select ${close(sql, settlements, { way, next: holds })} as not_closed)
      select not_closed, ${take(sql, holds, { way, deadline })} as not_taken from closed`
    return { closed: readClosed(answer), taken: readTaken(answer) }
  })
}

/** `simple` is cheaper, and fails with nothing written where `any` has a verdict. */
type Way = 'simple' | 'any'

/** States of a simple statement that found what only `any` decides: its own, or a taken id. */
const NOT_SIMPLE: ReadonlySet<unknown> = new Set(['TR001', '23505'])

async function simplyFirst<T>(sql: Client, send: (way: Way) => Promise<T>): Promise<T> {
  // A failed statement would end its transaction.
  if ('savepoint' in sql) return await send('any')
  try {
    return await send('simple')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NOT_SIMPLE.has(error.code))) throw error
    return await send('any')
  }
}

function take(
  sql: Client,
  rows: readonly HoldRow[],
  { way, deadline }: { readonly way: Way; readonly deadline: Date | undefined },
) {
  const [first] = rows
  const limit = sql`${deadline?.toISOString() ?? null}::text::timestamptz`
  const has = (field: 'spend_limit' | 'idempotency_key') => rows.some((row) => row[field] !== null)
  const limited = rows.some(({ limits }) => limits !== undefined)
  const isPlain = !limited && !has('spend_limit') && !has('idempotency_key')
  if (first && isPlain && rows.length === 1) {
    return sql`ledger_take_one(${first.id}, ${first.request_id}, ${first.account_id},
      ${first.key_id}, ${first.owner_id}, ${first.task_id}, ${first.endpoint}, ${first.model},
      ${first.price_version}::bigint, ${first.amount}::bigint,
      ${stringifyStorable(first.estimate ?? {})}::text::jsonb, ${limit})`
  }
  const own = sql`${rows.map((row) => row.key_id)}::text[],
    ${rows.map((row) => row.owner_id)}::text[], ${rows.map((row) => row.task_id)}::text[],
    ${rows.map((row) => row.endpoint)}::text[], ${rows.map((row) => row.model)}::text[],
    ${rows.map((row) => row.price_version)}::bigint[], ${rows.map((row) => row.amount)}::bigint[],
    ${stringifyStorable(rows.map((row) => row.estimate ?? {}))}::text::jsonb`
  const ids = sql`
    ${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.request_id)}::text[]`
  if (first && isPlain && way === 'simple' && areOf(first.account_id, rows)) {
    return sql`ledger_take_same(${first.account_id}, ${ids}, ${own}, ${limit})`
  }
  const named = has('idempotency_key')
  const limits = sql`, ${JSON.stringify(rows.map((row) => row.limits ?? null))}::text::jsonb`
  return sql`${sql(limited ? 'ledger_take_limited' : 'ledger_take')}(${ids},
    ${rows.map((row) => row.account_id)}::text[], ${own},
    ${has('spend_limit') ? rows.map((row) => row.spend_limit) : null}::bigint[],
    ${named ? rows.map((row) => row.idempotency_key) : null}::text[],
    ${named ? rows.map((row) => row.route) : null}::text[],
    ${named ? rows.map((row) => row.fingerprint) : null}::text[], ${limit}
    ${limited ? limits : sql``})`
}

/** `next` are the holds that the same statement takes afterwards. */
function close(
  sql: Client,
  rows: readonly SettleRow[],
  { way, next }: { readonly way: Way; readonly next: readonly HoldRow[] },
) {
  const [first] = rows
  // The others lock no balance but one, so the holds after them must be of the same account.
  const returned = rows.flatMap(({ hold_id: id, returned_tokens: tokens }) => {
    return tokens ? [{ id, ...tokens }] : []
  })
  const isPlain =
    returned.length === 0 &&
    first?.account_id !== undefined &&
    rows.every((row) => row.held !== undefined && row.answer === null && row.task_id === null) &&
    areOf(first.account_id, rows) &&
    areOf(first.account_id, next)
  if (isPlain && rows.length === 1) return closeOne(sql, first)
  const ids = sql`${rows.map((row) => row.hold_id)}::text[]`
  const own = sql`${rows.map((row) => row.charge)}::bigint[],
    ${rows.map((row) => row.status)}::text[], ${rows.map((row) => row.basis)}::text[],
    ${rows.map((row) => String(row.review))}::boolean[],
    ${rows.map((row) => row.upstream_cost)}::bigint[],
    ${rows.map((row) => row.upstream_cost_version)}::bigint[],
    ${rows.map((row) => row.error)}::text[]`
  const details = sql`${stringifyStorable(rows.map(describe))}::text::jsonb`
  if (isPlain && way === 'simple') {
    return sql`ledger_close_same(${first.account_id ?? null}, ${ids},
      ${rows.map((row) => row.held ?? null)}::bigint[], ${own}, ${details})`
  }
  const limits = sql`, ${JSON.stringify(returned)}::text::jsonb`
  return sql`${sql(returned.length > 0 ? 'ledger_close_limited' : 'ledger_close')}(${ids},
    ${rows.map((row) => row.account_id ?? null)}::text[], ${own},
    ${rows.map((row) => row.task_id)}::text[], ${details},
    ${next.map((row) => row.account_id)}::text[] ${returned.length > 0 ? limits : sql``})`
}

function areOf(account: string, rows: readonly { readonly account_id?: string }[]): boolean {
  return rows.every((row) => row.account_id === account)
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
