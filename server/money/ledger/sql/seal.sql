-- revision 1

-- The canonical bytes of an entry are PostgreSQL's binary form of these nine columns: the number of
-- fields, then for each its type (20, 25 or 1184), its length and its bytes. No two entries share
-- them. The verification of a backup builds the same bytes from the text of the rows.
create or replace function ledger_entry_digest(e entry) returns bytea
language sql stable as $$
  select sha256(record_send(row(e.id, e.posting, e.step, e.account_id, e.currency, e.source,
    e.destination, e.amount, e.at)))
$$;

-- The entries of a range as a block keeps them.
create or replace function ledger_digest(
  after bigint, upto bigint, out entries integer, out root bytea, out marks bytea
)
language sql stable
set enable_seqscan = off
set jit = off
as $$
  select count(*)::integer, sha256(coalesce(string_agg(d.digest, '' order by d.id), '')),
    coalesce(string_agg(int8send(d.id) || substr(d.digest, 1, 8), '' order by d.id), '')
  from (
    select e.id, ledger_entry_digest(e) as digest from entry e
    where e.id > after and e.id <= upto order by e.id offset 0) d
$$;

-- The sums of the entries of a range, added to earlier totals.
create or replace function ledger_totals(earlier text, after bigint, upto bigint) returns text
language sql stable
set enable_seqscan = off
set jit = off
as $$
  with flows as (
    select currency, source, destination, sum(amount) as amount from entry
    where id > after and id <= upto group by 1, 2, 3
  ), moved as (
    select currency, source as pot, -amount as amount from flows
    union all select currency, destination, amount from flows
    union all
    select c.key, p.key, p.value::numeric
    from json_each(earlier::json) c cross join lateral json_each_text(c.value) p
  ), pots as (
    select currency, pot, sum(amount) as amount from moved group by 1, 2
  ), currencies as (
    select currency, string_agg(format('%s:"%s"', to_json(pot), amount), ','
      order by pot collate "C") as pots
    from pots group by currency
  )
  select '{' || coalesce(string_agg(format('%s:{%s}', to_json(currency), pots), ','
    order by currency collate "C"), '') || '}'
  from currencies
$$;

create or replace function ledger_block_hash(b ledger_block) returns bytea
language sql stable as $$
  select sha256(convert_to(concat_ws(E'\n', 'tributary ledger block 1', b.number,
    encode(b.previous, 'hex'), b.after_id, b.upto_id, b.entries, b.entries_total,
    encode(b.root, 'hex'), b.totals, (extract(epoch from b.sealed_at) * 1000000)::bigint), 'UTF8'))
$$;

-- Seals at most `ids_max` ids after the head of the chain, up to `bound`. The caller has made sure
-- that no transaction can add an entry up to `bound` any more. Returns how many entries it sealed:
-- 0 when there is nothing left, null when another process is sealing.
create or replace function ledger_seal(bound bigint, ids_max integer) returns integer
language plpgsql
set enable_seqscan = off
as $$
declare
  head ledger_block%rowtype;
  block ledger_block%rowtype;
  first_id bigint;
begin
  -- An arbitrary number, this lock's alone.
  if not pg_try_advisory_xact_lock(7108140) then
    return null;
  end if;
  select * into head from ledger_block order by number desc limit 1;
  block.number := coalesce(head.number, 0) + 1;
  block.previous := coalesce(head.hash, decode(repeat('00', 32), 'hex'));
  block.after_id := coalesce(head.upto_id, 0);
  select id into first_id from entry where id > block.after_id and id <= bound order by id limit 1;
  if first_id is null then
    return 0;
  end if;
  block.upto_id := least(bound, first_id + ids_max - 1);
  select d.entries, d.root, d.marks into block.entries, block.root, block.marks
  from ledger_digest(block.after_id, block.upto_id) d;
  block.entries_total := coalesce(head.entries_total, 0) + block.entries;
  block.totals := ledger_totals(coalesce(head.totals, '{}'), block.after_id, block.upto_id);
  block.sealed_at := clock_timestamp();
  block.hash := ledger_block_hash(block);
  insert into ledger_block select block.*;
  return block.entries;
end $$;

-- The block that covers each entry; null if it is not sealed.
create or replace function ledger_blocks_of(ids bigint[]) returns table (id bigint, number bigint)
language sql stable
set enable_seqscan = off
as $$
  select i.id, (select b.number from ledger_block b where b.upto_id >= i.id
    order by b.upto_id limit 1)
  from unnest(ids) as i(id)
$$;

-- Entries whose digests are not those that were sealed.
create or replace function ledger_unmarked(ids bigint[], digests bytea[]) returns setof bigint
language sql stable
set enable_nestloop = off
set jit = off
as $$
  with entry_block as materialized (
    select o.id, o.digest, b.number from unnest(ids, digests) as o(id, digest)
    join ledger_blocks_of(ids) b on b.id = o.id
  ), block as materialized (
    -- Concatenation reads the stored marks once, and not again for each of them.
    select number, marks || ''::bytea as marks from ledger_block
    where number = any (array(select distinct number from entry_block))
  ), mark as materialized (
    select b.number, substr(b.marks, n * 16 + 1, 8) as id, substr(b.marks, n * 16 + 9, 8) as digest
    from block b cross join lateral generate_series(0, octet_length(b.marks) / 16 - 1) n)
  select e.id from entry_block e
  left join mark m on m.number = e.number and m.id = int8send(e.id)
    and m.digest = substr(e.digest, 1, 8)
  where m.id is null
$$;
