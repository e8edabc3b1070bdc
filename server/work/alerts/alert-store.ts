/** The SQL of alerts. */
import type { Sql, TransactionSql } from 'postgres'
import type { AlertKind } from './alert.ts'

interface NewAlert {
  readonly kind: AlertKind
  /** Null for alerts to operators. */
  readonly accountId: string | null
  /** Unique: a second alert of the same name is not recorded. */
  readonly once: string
  readonly subject: object
}

/** The members of an alert `e`: a budget's with the name of its key, or its member's address. */
export function membersOf(sql: Sql | TransactionSql) {
  return sql`case when e.kind <> 'budget_threshold' then e.subject
    else e.subject || jsonb_build_object('subject_name', coalesce(
      (select k.name from api_key k
        where k.id = e.subject ->> 'subject' and k.account_id = e.account_id),
      (select p.email from person p where p.id = e.subject ->> 'subject'))) end`
}

/** Records an alert in the transaction of its cause. Does nothing if it was recorded before. */
async function recordAlert(sql: Sql | TransactionSql, alert: NewAlert): Promise<void> {
  await sql`
    insert into alert_event (kind, account_id, once, subject)
    values (${alert.kind}, ${alert.accountId}, ${alert.once},
      ${JSON.stringify(alert.subject)}::text::jsonb)
    on conflict (once) do nothing`
}

/** Days before a key expires at which its account is alerted. */
const EXPIRY_DAYS = [7, 1] as const

/**
 * Records the keys that expire within 7 days or 1 day, each step once per expiry time. A key that
 * was created later than a step, or that has been replaced, skips it.
 */
export async function recordExpiringKeys(sql: Sql): Promise<number> {
  const [farthest] = EXPIRY_DAYS
  const recorded = await sql`
    insert into alert_event (kind, account_id, once, subject)
    select 'key_expiring', k.account_id,
      format('key_expiring:%s:%s:%s', k.id, extract(epoch from k.expires_at)::bigint, step.days),
      jsonb_build_object('key_id', k.id, 'key_name', k.name, 'key', k.display,
        'expires_at', to_jsonb(k.expires_at), 'days', step.days)
    from api_key k cross join lateral (
      select min(d) as days from unnest(${[...EXPIRY_DAYS]}::int[]) d
      where k.expires_at - d * interval '24 hours' <= now()) step
    where k.expires_at > now() and k.expires_at <= now() + ${farthest} * interval '24 hours'
      and k.disabled_at is null and k.replaced_by is null and k.purpose = 'calls'
      -- A key for 7d has lived for less by what its creation took.
      and k.created_at <= k.expires_at - step.days * interval '24 hours' + interval '1 minute'
    on conflict (once) do nothing`
  return recorded.count
}

/** Records for operators that checks of an audit failed; the same checks at most once a day. */
export async function recordUnbalanced(
  sql: Sql,
  failed: readonly { readonly id: string }[],
): Promise<void> {
  if (failed.length === 0) return
  const ids = failed.map(({ id }) => id).join(', ')
  const day = new Date().toISOString().slice(0, 10)
  await recordAlert(sql, {
    kind: 'books_unbalanced',
    accountId: null,
    once: `books_unbalanced:${day}:${ids}`,
    subject: { failed: ids },
  })
}
