/** SQL of process leases and of closing the calls of dead processes. */
import type { Sql } from 'postgres'

export interface LeaseTimes {
  readonly leaseSeconds: number
  /** The longest gap between two renewals that still counts as continuous. */
  readonly patienceSeconds: number
  /** A process that has been without the database for this long has ended its own calls. */
  readonly quietSeconds: number
}

export interface Renewal {
  /** The database's time. */
  readonly at: Date
  /** Number of renewals of this lease. */
  readonly renewed: bigint
  /** The id of the newest ledger entry; 0 before the first. */
  readonly newest_entry: bigint
}

/** Registers or renews a process's lease by the database's clock; see ledger_renew. */
export async function renewLease(
  sql: Sql,
  owner: { readonly id: string; readonly address: string },
  { leaseSeconds, patienceSeconds }: Pick<LeaseTimes, 'leaseSeconds' | 'patienceSeconds'>,
): Promise<Renewal> {
  const [row] = await sql<Renewal[]>`
    select at, renewed, newest_entry
    from ledger_renew(${owner.id}, ${owner.address}, make_interval(secs => ${leaseSeconds}),
      make_interval(secs => ${patienceSeconds}))`
  if (!row) throw new Error('a lease was not renewed')
  return row
}

export async function endLease(sql: Sql, ownerId: string): Promise<void> {
  await sql`
    update owner set lease_until = clock_timestamp(), ended_at = clock_timestamp()
    where id = ${ownerId}`
}

/** Returns true while a process holds its lease. */
export async function hasLease(sql: Sql, ownerId: string): Promise<boolean> {
  const [row] = await sql`
    select from owner
    where id = ${ownerId} and lease_until > clock_timestamp() and ended_at is null`
  return row !== undefined
}

/** Ends every other process's lease, on a database that only one process can use. */
export async function endOtherLeases(sql: Sql, ownerId: string): Promise<void> {
  await sql`
    insert into owner (id, lease_until)
    select distinct owner_id, clock_timestamp() from hold
    where state = 'open' and owner_id is not null
    on conflict do nothing`
  await sql`
    update owner set ended_at = clock_timestamp(),
      lease_until = least(lease_until, clock_timestamp())
    where id <> ${ownerId} and ended_at is null`
}

/** Returns the number of processes with a live lease; at least 1. */
export async function countLiveOwners(sql: Sql): Promise<number> {
  const [row] = await sql<{ live: number }[]>`
    select greatest(count(*), 1)::int as live from owner where lease_until > clock_timestamp()`
  return row?.live ?? 1
}

/** Records where a process keeps files. */
export async function setStorage(sql: Sql, ownerId: string, storage: string | null): Promise<void> {
  await sql`update owner set storage = ${storage} where id = ${ownerId}`
}

/**
 * Returns the places in which live processes keep files, each once: object stores, whose names are
 * URLs, before folders, then that of the process that has been there longest.
 */
export async function listStorages(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ storage: string }[]>`
    select storage from owner
    where lease_until > clock_timestamp() and ended_at is null and storage is not null
    group by storage
    order by storage like '%://%' desc, min(started_at), min(id)`
  return rows.map(({ storage }) => storage)
}

/** Closes holds of dead processes, at most `limit` of them; see ledger_sweep. */
export async function sweepHolds(
  sql: Sql,
  sweeperId: string,
  { leaseSeconds, patienceSeconds, quietSeconds }: LeaseTimes,
  limit: number,
): Promise<{ readonly closed: number; readonly chargedNanos: bigint }> {
  const [row] = await sql<{ closed: bigint; charged: bigint }[]>`
    select closed, charged from ledger_sweep(${sweeperId},
      make_interval(secs => ${leaseSeconds}), make_interval(secs => ${patienceSeconds}),
      make_interval(secs => ${quietSeconds}), ${limit})`
  return { closed: Number(row?.closed ?? 0n), chargedNanos: row?.charged ?? 0n }
}

export interface OwnHoldRow {
  readonly id: string
  readonly account_id: string
  readonly request_id: string
  /** The Idempotency-Key that its request has taken. */
  readonly key: string | null
}

/** Returns the open holds of this process's calls that are older than `seconds`. */
export function findOwnHolds(sql: Sql, ownerId: string, seconds: number): Promise<OwnHoldRow[]> {
  return sql<OwnHoldRow[]>`
    select h.id, h.account_id, h.request_id, i.key
    from hold h left join idempotency i on i.hold_id = h.id
    where h.owner_id = ${ownerId} and h.state = 'open' and h.task_id is null
      and h.created_at < clock_timestamp() - make_interval(secs => ${seconds})`
}

/** Deletes leases that ended over 24 hours ago. */
export async function dropOldLeases(sql: Sql): Promise<void> {
  await sql`
    delete from owner o where o.lease_until < clock_timestamp() - interval '24 hours'
      and not exists (select 1 from hold h where h.owner_id = o.id and h.state = 'open')
      and not exists (
        select 1 from idempotency i join hold h on h.id = i.hold_id
        where i.state = 'lost' and h.owner_id = o.id)`
}
