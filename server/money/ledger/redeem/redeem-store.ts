/** Redeem codes as rows; their amounts are posted by the ledger in the same transaction. */
import type { Sql, TransactionSql } from 'postgres'
import { behind, equal, mentioning } from '../../../base/database/conditions.ts'

export interface RedeemCodeRow {
  readonly id: string
  readonly display: string
  readonly kind: 'top_up' | 'promotion'
  readonly amount: bigint
  readonly currency: string
  readonly note: string
  readonly expires_at: Date | null
  readonly voided_at: Date | null
  readonly created_by: string
  readonly created_at: Date
  readonly account_id: string | null
  readonly used_by: string | null
  readonly used_at: Date | null
  /** Determined by the database's clock. */
  readonly state: 'open' | 'used' | 'expired' | 'voided'
}

export interface NewRedeemCode {
  readonly id: string
  readonly hash: Buffer
  readonly display: string
}

/** Inserts all codes of a lot or none. */
export async function insertCodes(
  sql: Sql,
  codes: readonly NewRedeemCode[],
  lot: {
    readonly kind: RedeemCodeRow['kind']
    readonly amount: bigint
    readonly currency: string
    readonly note: string
    readonly expiresAt: Date | null
    readonly createdBy: string
  },
): Promise<void> {
  const rows = codes.map(({ id, hash, display }) => ({ id, display, hash: hash.toString('hex') }))
  await sql`
    insert into redeem_code
      (id, hash, display, kind, amount, currency, note, expires_at, created_by)
    select c.id, decode(c.hash, 'hex'), c.display, ${lot.kind}, ${lot.amount.toString()}::bigint,
      ${lot.currency}, ${lot.note}, ${lot.expiresAt}, ${lot.createdBy}
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      as c(id text, hash text, display text)`
}

function columns(sql: Sql | TransactionSql) {
  return sql`id, display, kind, amount, currency, note, expires_at, voided_at, created_by,
    created_at, account_id, used_by, used_at,
    case when used_at is not null then 'used' when voided_at is not null then 'voided'
      when expires_at <= now() then 'expired' else 'open' end as state`
}

/** Returns codes, newest first. */
export function selectCodes(
  sql: Sql,
  filter: {
    readonly limit: number
    readonly after?: string | undefined
    readonly state?: RedeemCodeRow['state'] | undefined
    readonly search?: string | undefined
  },
): Promise<RedeemCodeRow[]> {
  const { limit, after, state, search } = filter
  return sql<RedeemCodeRow[]>`
    select * from (select ${columns(sql)} from redeem_code) c
    where true
      ${equal(sql, { state })} ${mentioning(sql, ['display', 'note', 'account_id'], search)}
      ${behind(sql, 'redeem_code', after, { alias: 'c' })}
    order by created_at desc, id desc limit ${limit}`
}

/** Locks a code's row: a concurrent redemption waits here and then finds the code used. */
export async function lockCode(
  sql: TransactionSql,
  hash: Buffer,
): Promise<RedeemCodeRow | undefined> {
  const [row] = await sql<RedeemCodeRow[]>`
    select ${columns(sql)} from redeem_code where hash = ${hash} for update`
  return row
}

export async function useCode(
  sql: TransactionSql,
  use: { readonly id: string; readonly accountId: string; readonly usedBy: string },
): Promise<void> {
  await sql`
    update redeem_code set account_id = ${use.accountId}, used_by = ${use.usedBy}, used_at = now()
    where id = ${use.id}`
}

/** Returns false if the code is used, already voided or unknown. */
export async function voidCode(sql: Sql, id: string): Promise<boolean> {
  const voided = await sql`
    update redeem_code set voided_at = now()
    where id = ${id} and used_at is null and voided_at is null`
  return voided.count === 1
}
