/**
 * SQL that moves money for calls: a batch is sent as arrays, one per field, and only deviating
 * outcomes are returned.
 */
import type { Sql, TransactionSql } from 'postgres'
import {
  callFunctions,
  type FunctionCall,
  sqlFunction,
} from '../../../base/database/sql-functions.ts'
import { stringifyStorable } from '../../../base/lib/text/well-formed.ts'
import { tellLeft, writeLimits } from '../hold-limits.ts'
import type { HoldRow, HoldVerdict, SettleRow, SettleVerdict } from '../store.ts'

type Client = Sql | TransactionSql

/** The outcome of each item of a batch, by hold id. */
export interface Verdicts<Verdict> {
  get(id: string): Verdict | undefined
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
    const { first } = await callFunctions(sql, take(holds, { way, deadline }))
    return readTaken(first, holds)
  })
}

/** Closes holds and writes their usage records in one statement. */
export function closeHolds(
  sql: Client,
  settlements: readonly SettleRow[],
): Promise<Verdicts<SettleVerdict>> {
  return simplyFirst(sql, async (way) => {
    const { first } = await callFunctions(sql, close(settlements, { way, next: [] }))
    return readClosed(first)
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
    const closing = close(settlements, { way, next: holds })
    const { first, second } = await callFunctions(sql, closing, take(holds, { way, deadline }))
    return { closed: readClosed(first), taken: readTaken(second, holds) }
  })
}

/** `simple` is cheaper; where `any` returns a verdict, it fails and writes nothing. */
type Way = 'simple' | 'any'

/** SQLSTATEs of a simple statement that needs `any`: its own code, and a unique violation. */
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

const TAKE_ONE = sqlFunction(
  'ledger_take_one',
  'text text text text text text text text bigint bigint json time',
)
const TAKE_SAME = sqlFunction(
  'ledger_take_same',
  'text texts texts texts texts texts texts texts bigints bigints json time',
)
const TAKE_TYPES =
  'texts texts texts texts texts texts texts texts bigints bigints json ' +
  'bigints texts texts texts time'
const TAKE = sqlFunction('ledger_take', TAKE_TYPES)
const TAKE_LIMITED = sqlFunction('ledger_take_limited', `${TAKE_TYPES} json`)
const TAKE_OPEN = sqlFunction('ledger_take_open', `${TAKE_TYPES} json bigints`)

function take(
  rows: readonly HoldRow[],
  { way, deadline }: { readonly way: Way; readonly deadline: Date | undefined },
): FunctionCall {
  const [first] = rows
  const limit = deadline?.toISOString() ?? null
  const has = (field: 'spend_limit' | 'idempotency_key') => rows.some((row) => row[field] !== null)
  const limited = rows.some(({ limits }) => limits !== undefined)
  const isOpen = rows.some(({ excess }) => excess !== undefined)
  const isPlain = !limited && !isOpen && !has('spend_limit') && !has('idempotency_key')
  if (first && isPlain && rows.length === 1) return takeOne(first, limit)
  const ids = [rows.map((row) => row.id), rows.map((row) => row.request_id)]
  const own = [
    rows.map((row) => row.key_id),
    rows.map((row) => row.owner_id),
    rows.map((row) => row.task_id),
    rows.map((row) => row.endpoint),
    rows.map((row) => row.model),
    rows.map((row) => row.price_version),
    rows.map((row) => row.amount),
    stringifyStorable(rows.map(estimateOf)),
  ]
  if (first && isPlain && way === 'simple' && areOf(first.account_id, rows)) {
    return { of: TAKE_SAME, values: [first.account_id, ...ids, ...own, limit] }
  }
  const named = has('idempotency_key')
  const values = [
    ...ids,
    rows.map((row) => row.account_id),
    ...own,
    has('spend_limit') ? rows.map((row) => row.spend_limit) : null,
    named ? rows.map((row) => row.idempotency_key) : null,
    named ? rows.map((row) => row.route) : null,
    named ? rows.map((row) => row.fingerprint) : null,
    limit,
  ]
  const limits = limited ? writeLimits(rows.map(({ limits }) => limits)) : null
  if (isOpen) {
    const excesses = rows.map((row) => row.excess ?? null)
    return { of: TAKE_OPEN, values: [...values, limits, excesses] }
  }
  return limits === null ? { of: TAKE, values } : { of: TAKE_LIMITED, values: [...values, limits] }
}

/** The labels travel in the estimate, so that the functions keep their parameters. */
function estimateOf({ estimate, labels }: HoldRow): HoldRow['estimate'] {
  return labels ? { ...estimate, labels } : estimate
}

function takeOne(row: HoldRow, limit: string | null): FunctionCall {
  return {
    of: TAKE_ONE,
    values: [
      row.id,
      row.request_id,
      row.account_id,
      row.key_id,
      row.owner_id,
      row.task_id,
      row.endpoint,
      row.model,
      row.price_version,
      row.amount,
      stringifyStorable(estimateOf(row)),
      limit,
    ],
  }
}

const CLOSE_ONE = sqlFunction(
  'ledger_close_one',
  'text text bigint bigint text text boolean bigint bigint text json json',
)
const CLOSE_SAME = sqlFunction(
  'ledger_close_same',
  'text texts bigints bigints texts texts booleans bigints bigints texts json',
)
const CLOSE_TYPES =
  'texts texts bigints texts texts booleans bigints bigints texts texts json texts'
const CLOSE = sqlFunction('ledger_close', CLOSE_TYPES)
const CLOSE_LIMITED = sqlFunction('ledger_close_limited', `${CLOSE_TYPES} json`)

/** `next` are the holds that the same statement takes afterwards. */
function close(
  rows: readonly SettleRow[],
  { way, next }: { readonly way: Way; readonly next: readonly HoldRow[] },
): FunctionCall {
  const [first] = rows
  // The other functions lock a single balance, so the holds must be of the same account.
  const returned = rows.flatMap(({ hold_id: id, returned_tokens: tokens }) => {
    return tokens ? [{ id, ...tokens }] : []
  })
  const isPlain =
    returned.length === 0 &&
    first?.account_id !== undefined &&
    rows.every((row) => row.held !== undefined && row.answer === null && row.task_id === null) &&
    areOf(first.account_id, rows) &&
    areOf(first.account_id, next)
  if (isPlain && rows.length === 1) return closeOne(first)
  const ids = rows.map((row) => row.hold_id)
  const own = [
    rows.map((row) => row.charge),
    rows.map((row) => row.status),
    rows.map((row) => row.basis),
    rows.map((row) => String(row.review)),
    rows.map((row) => row.upstream_cost),
    rows.map((row) => row.upstream_cost_version),
    rows.map((row) => row.error),
  ]
  const details = stringifyStorable(rows.map(describe))
  if (isPlain && way === 'simple') {
    const held = rows.map((row) => row.held ?? null)
    return { of: CLOSE_SAME, values: [first.account_id, ids, held, ...own, details] }
  }
  const values = [
    ids,
    rows.map((row) => row.account_id ?? null),
    ...own,
    rows.map((row) => row.task_id),
    details,
    next.map((row) => row.account_id),
  ]
  if (returned.length === 0) return { of: CLOSE, values }
  return { of: CLOSE_LIMITED, values: [...values, JSON.stringify(returned)] }
}

function areOf(account: string, rows: readonly { readonly account_id?: string }[]): boolean {
  return rows.every((row) => row.account_id === account)
}

function closeOne(row: SettleRow): FunctionCall {
  const { lines, attempts } = describe(row)
  return {
    of: CLOSE_ONE,
    values: [
      row.hold_id,
      row.account_id ?? null,
      row.held ?? null,
      row.charge,
      row.status,
      row.basis,
      row.review,
      row.upstream_cost,
      row.upstream_cost_version,
      row.error,
      stringifyStorable(lines),
      stringifyStorable(attempts),
    ],
  }
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
      ${stringifyStorable({ ...describe(row), account_id: row.account_id })}::text::jsonb)
        as verdict`
  return answer?.verdict ?? 'unknown'
}

function describe({ lines, attempts, answer }: SettleRow) {
  return { lines: lines ?? [], attempts: attempts ?? [], ...(answer ? { answer } : {}) }
}

function readTaken(answer: readonly string[], holds: readonly HoldRow[]): Verdicts<HoldVerdict> {
  if (answer.length > 0) tellLeft(answer, holds)
  const refused = readPairs(answer)
  return {
    get(id) {
      const budget = refused.get(`${id}#budget`)
      if (budget !== undefined) return `budget:${budget}` as HoldVerdict
      return (refused.get(id) as HoldVerdict | undefined) ?? 'held'
    },
  }
}

function readClosed(answer: readonly string[]): Verdicts<SettleVerdict> {
  const refused = readPairs(answer)
  return { get: (id) => (refused.get(id) as SettleVerdict | undefined) ?? 'closed' }
}

/** Reads alternating ids and verdicts. */
function readPairs(words: readonly string[]): ReadonlyMap<string, string> {
  const verdicts = new Map<string, string>()
  for (let index = 0; index + 1 < words.length; index += 2) {
    verdicts.set(words[index] ?? '', words[index + 1] ?? '')
  }
  return verdicts
}
