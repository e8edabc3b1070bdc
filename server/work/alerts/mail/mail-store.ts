/**
 * The SQL of the queue of mail. A claim commits the attempt before anything is sent. Two gateways
 * never send the same mail at the same time; after a crash it may be sent again, with the same
 * Message-ID.
 */
import type { Sql, TransactionSql } from 'postgres'
import { ALERT_NOTIFICATIONS } from '../alert.ts'
import type { MailKind } from './mail-texts.ts'

export interface NewMail {
  readonly id: string
  readonly address: string
  readonly language: string
  readonly kind: MailKind
  readonly params: object
  readonly once: string
}

export interface ClaimedMail {
  readonly id: string
  readonly address: string
  readonly language: string
  readonly kind: MailKind
  readonly params: unknown
  /** The number of this attempt, from 1. */
  readonly attempts: number
  readonly fence: bigint
}

/** The most mails to one address within an hour; further alerts are shown only in the console. */
const PER_HOUR_MAX = 20

/**
 * Enqueues a mail. Returns false if its cause was mailed before or the person gets too much.
 */
export async function insertMail(sql: TransactionSql, mail: NewMail): Promise<boolean> {
  const inserted = await sql`
    insert into mail (id, address, language, kind, params, once)
    select ${mail.id}, ${mail.address}, ${mail.language}, ${mail.kind},
      ${JSON.stringify(mail.params)}::text::jsonb, ${mail.once}
    where (
      select count(*) from mail m
      where m.address = ${mail.address} and m.created_at > now() - interval '1 hour'
    ) < ${PER_HOUR_MAX}
    on conflict (once) do nothing`
  return inserted.count > 0
}

/** Wakes whoever sends mail, once the transaction commits. */
export async function wakeSender(sql: TransactionSql): Promise<void> {
  await sql`select pg_notify(${ALERT_NOTIFICATIONS}, '')`
}

export interface MailLimits {
  readonly attemptsMax: number
  /** Longer than an attempt can take. */
  readonly leaseMs: number
}

/** Claims up to `count` due mails, those first whose process died. */
export function claimMails(
  sql: Sql,
  count: number,
  { attemptsMax, leaseMs }: MailLimits,
): Promise<ClaimedMail[]> {
  return sql<ClaimedMail[]>`
    with due as (
      select id from mail
      where state = 'pending' and due_at <= now() and (lease_until is null or lease_until <= now())
      order by due_at limit ${count} for update skip locked),
    given_up as (
      update mail set state = 'failed', finished_at = now(), lease_until = null,
        error = coalesce(error, 'the gateway ended before the outcome was known')
      where id in (select id from due) and attempts >= ${attemptsMax})
    update mail set attempts = attempts + 1, fence = fence + 1,
      lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where id in (select id from due) and attempts < ${attemptsMax}
    returning id, address, language, kind, params, attempts, fence`
}

export type MailOutcome =
  | { readonly state: 'sent' }
  | { readonly state: 'failed'; readonly error: string }
  | { readonly state: 'pending'; readonly error: string; readonly delayMs: number }

/** Ends an attempt. Returns false if the lease is lost. */
export async function recordMail(
  sql: Sql,
  { id, fence }: Pick<ClaimedMail, 'id' | 'fence'>,
  outcome: MailOutcome,
): Promise<boolean> {
  const delayMs = outcome.state === 'pending' ? outcome.delayMs : 0
  const ended = await sql`
    update mail set state = ${outcome.state}, lease_until = null,
      error = ${outcome.state === 'sent' ? null : outcome.error},
      finished_at = case when ${outcome.state} = 'pending' then null else now() end,
      due_at = now() + ${delayMs} * interval '1 millisecond'
    where id = ${id} and fence = ${fence.toString()}::bigint and lease_until is not null`
  return ended.count > 0
}

/**
 * Ends the waits and leases of up to `limit` mails that end over `seconds` later than `delaysMs`
 * allow by their attempts.
 */
export async function hurryLateMails(
  sql: Sql,
  { seconds, delaysMs, limit }: { seconds: number; delaysMs: readonly number[]; limit: number },
): Promise<number> {
  const hurried = await sql`
    with late as (
      select id from mail
      where state = 'pending' and coalesce(lease_until, due_at) > now()
        + ${seconds}::float8 * interval '1 second'
        + case when lease_until is null then
            coalesce((${[...delaysMs]}::float8[])[attempts], 0) else 0
          end * interval '1 millisecond'
      limit ${limit} for update skip locked)
    update mail m set due_at = now() + interval '1 minute',
      lease_until = case when m.lease_until is not null then now() + interval '90 seconds' end
    from late where m.id = late.id`
  return hurried.count
}

/** Deletes up to `limit` mails that ended more than `days` ago. Returns their number. */
export async function deleteOldMails(sql: Sql, days: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from mail where id in (
      select id from mail where finished_at < now() - ${days}::float8 * interval '1 day'
      order by finished_at limit ${limit} for update skip locked)`
  return deleted.count
}
