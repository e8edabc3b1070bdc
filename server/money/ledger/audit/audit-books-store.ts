/** Invariants of the sealed books: sealed history is unchanged. */

import { selectCheckpoints } from '../books/statement-store.ts'
import { compareCheckpoint } from '../books/stored-checkpoint.ts'
import type { Invariant, Violation } from './audit-store.ts'
import { holdsIn } from './scope-store.ts'

const LIST_LIMIT = 20
const CHECKPOINTS_AT_ONCE = 100

const sealedEntriesAreUnchanged: Invariant = {
  id: 'I14',
  title: 'no sealed entry was changed, removed or inserted',
  find: (sql, scope) => sql<Violation[]>`
    with broken as materialized (
      select b.*, coalesce(a.entries, 0) as archived, d.entries as live from ledger_block b
      left join archived_block a on a.number = b.number
      cross join lateral ledger_digest(b.after_id, b.upto_id) d
      where b.number > ${scope.block.toString()}::bigint and case when a.number is null
        then d.entries <> b.entries or d.root <> b.root or d.marks <> b.marks
        -- The live entries of a block with archived ones are those of its marks that are not there.
        else d.entries + a.entries <> b.entries or d.entries > 0 and d.entries <> (
          select count(*)
          from generate_series(0, d.entries - 1) n join generate_series(0, b.entries - 1) m
            on substr(d.marks, n * 16 + 1, 16) = substr(b.marks, m * 16 + 1, 16)) end
      order by b.number limit 5
    ), mark as (
      -- 16 bytes per entry: its id, then the first 8 bytes of its digest.
      select b.number, b.sealed_at, b.archived,
        ('x' || encode(substr(b.marks, n * 16 + 1, 8), 'hex'))::bit(64)::bigint as id,
        substr(b.marks, n * 16 + 9, 8) as digest
      from broken b cross join generate_series(0, octet_length(b.marks) / 16 - 1) n
    ), found as (
      select b.number, b.sealed_at, e.id, e.posting, e.step, e.amount,
        substr(ledger_entry_digest(e), 1, 8) as digest
      from broken b join entry e on e.id > b.after_id and e.id <= b.upto_id
    ), different as (
      select coalesce(f.number, m.number) as number, coalesce(f.id, m.id) as id,
        coalesce(f.sealed_at, m.sealed_at) as sealed_at,
        case when m.id is null then format('inserted: %s %s %s', f.posting, f.step, f.amount)
          when f.id is null then 'removed'
          else format('changed: %s %s %s', f.posting, f.step, f.amount) end as found
      from found f full join mark m on m.number = f.number and m.id = f.id
      where f.digest is distinct from m.digest and not (f.id is null and m.archived > 0))
    select format('entry %s', id) as subject, found,
      format('as sealed in block %s at %s', number, sealed_at) as expected
    from different
    union all
    select format('block %s', b.number),
      case b.archived when 0 then 'another root or count than its entries have'
        else format('%s entries, and %s archived', b.live, b.archived) end,
      case b.archived when 0 then 'what its entries say' else b.entries::text end
    from broken b where not exists (select 1 from different d where d.number = b.number)
    limit ${LIST_LIMIT}`,
}

const blocksAreOneChain: Invariant = {
  id: 'I15',
  title: 'the blocks are one chain that covers every entry once',
  find: (sql, scope) => sql<Violation[]>`
    with linked as (
      select b.*, a.number is not null as has_archived, ledger_block_hash(b) as found_hash,
        lag(b.number, 1, 0::bigint) over by_number as last_number,
        lag(b.hash, 1, decode(repeat('00', 32), 'hex')) over by_number as last_hash,
        lag(b.upto_id, 1, 0::bigint) over by_number as last_id,
        lag(b.entries_total, 1, 0::bigint) over by_number as last_total,
        lag(b.totals, 1, '{}') over by_number as last_totals
      from ledger_block b left join archived_block a on a.number = b.number
      where b.number >= ${scope.block.toString()}::bigint
      window by_number as (order by b.number)
    ), head as (
      select upto_id, entries_total, totals from ledger_block order by number desc limit 1
    ), live as materialized (
      select currency, source, destination, count(*) as entries, sum(amount) as amount
      -- By the range alone: by the index of ids it would read those of all verified entries.
      from entry where ${holdsIn(sql, scope, 'posting')} and id + 0 <= (select upto_id from head)
      group by 1, 2, 3
    ), history as (
      select currency, source, destination, entries, amount from archived_sum
      union all
      select currency, source, destination, entries, amount from verified_sum
        where week = any (${scope.weeks}::date[])
    ), flow as (
      select * from live union all select * from history
    ), moved as (
      select currency, source as pot, -amount as amount from flow
      union all
      select currency, destination, amount from flow
    ), pots as (
      select currency, pot, sum(amount)::text as amount from moved group by 1, 2
    ), found_totals as (
      select coalesce(json_object_agg(currency, pots), '{}')::text as totals from (
        select currency, json_object_agg(pot, amount) as pots from pots group by 1) p)
    select format('block %s', number) as subject, v.found, v.expected
    from linked cross join lateral (values
      (found_hash <> hash, 'a hash of something else', 'the hash of its fields'),
      (number <> last_number + 1, format('follows block %s', last_number), 'no gap'),
      (previous <> last_hash, 'another previous hash', 'that of the block before'),
      (after_id <> last_id, format('begins after entry %s', after_id), last_id::text),
      (entries_total <> last_total + entries, entries_total::text, (last_total + entries)::text),
      (not has_archived and totals <> ledger_totals(last_totals, after_id, upto_id), totals,
        ledger_totals(last_totals, after_id, upto_id))) as v(is_wrong, found, expected)
    where v.is_wrong and number > ${scope.block.toString()}::bigint
    union all
    select format('block %s', v.block), 'another block, or none', 'that which was verified'
    from verified_books v left join linked l on l.number = v.block
    where l.hash is distinct from v.hash or l.found_hash is distinct from v.hash
    union all
    select 'sealed entries', f.entries::text, h.entries_total::text
    from head h cross join (select coalesce(sum(entries), 0) as entries from flow) f
    where f.entries <> h.entries_total
    union all
    -- The totals of blocks with archived entries are known only up to the last block.
    select 'sealed totals', h.totals, found.totals
    from head h cross join found_totals t cross join lateral (
      select ledger_totals(t.totals, h.upto_id, h.upto_id) as totals) found
    where h.totals <> found.totals and exists (select from history)
    limit ${LIST_LIMIT}`,
}

const checkpointsAreIntact: Invariant = {
  id: 'I19',
  title: 'each stored checkpoint carries its signature and agrees with its block',
  async find(sql) {
    const violations: Violation[] = []
    for await (const rows of selectCheckpoints(sql).cursor(CHECKPOINTS_AT_ONCE)) {
      for (const row of rows) {
        const difference = compareCheckpoint(row)
        if (!difference) continue
        const subject = `checkpoint ${row.id} of ${row.created_at.toISOString()}`
        if (violations.push({ subject, ...difference }) === LIST_LIMIT) return violations
      }
    }
    return violations
  },
}

const historyIsGuarded: Invariant = {
  id: 'I16',
  title: 'the tables of history refuse changes',
  find: (sql) => sql<Violation[]>`
    select t.name as subject,
      coalesce(format('trigger state %s', g.tgenabled), 'no trigger') as found,
      'a trigger that refuses changes' as expected
    from (values ('entry', 'append_only'), ('credit', 'append_only'),
      ('ledger_block', 'append_only'), ('ledger_checkpoint', 'append_only'),
      ('archive_object', 'append_only'), ('hold', 'guard'), ('hold', 'kept'), ('call', 'guard'),
      ('call', 'kept'), ('task', 'guard')) as t(name, rule)
    left join pg_trigger g
      on g.tgrelid = to_regclass(t.name) and g.tgname = t.name || '_' || t.rule
    where g.tgenabled is null or g.tgenabled not in ('O', 'A')`,
}

const archivesAddUp: Invariant = {
  id: 'I20',
  title: 'the sums of archived entries and calls are those of their objects',
  find: (sql) => sql<Violation[]>`
    with object as (
      select month, sum(holds) as holds, sum(entries) as entries from archive_object group by 1
    ), summed as (
      select month, sum(entries) as entries from archived_sum group by 1
    ), keyed as (
      select month, sum(calls) as calls, sum(charged) as charged from archived_key group by 1
    ), revenue as (
      select month, sum(case when source = 'revenue' then -amount else amount end) as amount
      from archived_sum where 'revenue' in (source, destination) group by 1)
    select format('archive of %s', to_char(a.month,
        case when a.until is null then 'YYYY-MM' else 'YYYY-MM-DD' end)) as subject,
      format('sums of %s entries and %s calls with charges of %s', coalesce(s.entries, 0),
        coalesce(k.calls, 0), coalesce(k.charged, 0)) as found,
      format('%s entries, %s calls, charges of %s', coalesce(o.entries, 0), coalesce(o.holds, 0),
        coalesce(r.amount, 0)) as expected
    from archive a left join object o using (month) left join summed s using (month)
    left join keyed k using (month) left join revenue r using (month)
    where coalesce(s.entries, 0) <> coalesce(o.entries, 0)
      or coalesce(k.calls, 0) <> coalesce(o.holds, 0)
      or coalesce(k.charged, 0) <> coalesce(r.amount, 0)
    union all
    select 'archived entries in blocks', b.entries::text, o.entries::text
    from (select coalesce(sum(entries), 0) as entries from archived_block) b
    cross join (select coalesce(sum(entries), 0) as entries from object) o
    where b.entries <> o.entries
    limit ${LIST_LIMIT}`,
}

export const BOOKS_INVARIANTS: readonly Invariant[] = [
  sealedEntriesAreUnchanged,
  blocksAreOneChain,
  checkpointsAreIntact,
  historyIsGuarded,
  archivesAddUp,
]
