/** The SQL of dispatching alerts: each is claimed with its account and its people. */
import type { Sql, TransactionSql } from 'postgres'
import type { AlertKind } from './alert.ts'
import { membersOf } from './alert-store.ts'

export interface WaitingAlert {
  readonly id: bigint
  readonly kind: AlertKind
  readonly account_id: string | null
  readonly subject: Readonly<Record<string, unknown>>
  readonly created_at: Date
  readonly account_name: string | null
  readonly currency: string | null
  readonly alert_url: string | null
}

/** Locks up to `limit` waiting alerts, oldest first; other processes skip them. */
export function lockWaiting(sql: TransactionSql, limit: number): Promise<WaitingAlert[]> {
  return sql<WaitingAlert[]>`
    select e.id, e.kind, e.account_id, e.created_at, a.name as account_name, a.currency,
      a.alert_url, ${membersOf(sql)} as subject
    from alert_event e left join account a on a.id = e.account_id
    where e.dispatched_at is null order by e.id limit ${limit} for update of e skip locked`
}

export async function markDispatched(
  sql: TransactionSql,
  alerts: readonly WaitingAlert[],
): Promise<void> {
  const ids = alerts.map(({ id }) => id.toString())
  await sql`update alert_event set dispatched_at = now() where id = any(${ids}::bigint[])`
}

export interface Recipient {
  readonly id: string
  readonly email: string
  readonly language: string
}

/** Returns the owners of an account, or the operators for null. */
export function selectRecipients(
  sql: TransactionSql,
  accountId: string | null,
): Promise<Recipient[]> {
  return sql<Recipient[]>`
    select p.id, p.email, p.language from person p
    where p.disabled_at is null and ${
      accountId === null
        ? sql`p.is_operator`
        : sql`exists (select from membership m where m.person_id = p.id
            and m.account_id = ${accountId} and m.role = 'owner')`
    }
    order by p.id limit 50`
}

/** Deletes up to `limit` alerts of more than `days` ago. Returns their number. */
export async function deleteOldAlerts(sql: Sql, days: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from alert_event where id in (
      select id from alert_event
      where created_at < now() - ${days}::float8 * interval '1 day' and dispatched_at is not null
      order by id limit ${limit} for update skip locked)`
  return deleted.count
}
