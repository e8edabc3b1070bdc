-- Tamper-evident books. Committed entries are sealed in blocks: a block covers a range of entry
-- ids, keeps a hash of its entries and the hash of the block before. Nothing here is on the path of
-- a call: background workers seal committed entries a second or two later.
create table ledger_block (
  number bigint primary key check (number > 0),
  -- The hash of the block before; 32 zero bytes in the first one.
  previous bytea not null,
  -- The block covers the entries with after_id < id <= upto_id: each entry is in one block.
  after_id bigint not null,
  upto_id bigint not null check (upto_id > after_id),
  entries integer not null check (entries > 0),
  -- Entries in this block and in all before it.
  entries_total bigint not null,
  -- SHA-256 over the digests of the entries, in the order of their ids.
  root bytea not null,
  -- For each entry its id and the first 8 bytes of its digest, to find the one that differs.
  marks bytea not null,
  -- {"CNY":{"available":"nanos",…}}: the sums of all entries so far, for each ledger account.
  totals text not null,
  sealed_at timestamptz not null,
  hash bytea not null
);
-- Digests do not compress.
alter table ledger_block alter column marks set storage external;
create trigger ledger_block_append_only before update or delete or truncate on ledger_block
  for each statement execute function refuse_change();

-- The key pair that signs checkpoints; the private key is encrypted with SECRET_KEY.
create table ledger_signing_key (
  id text primary key,
  public_key bytea not null,
  private_key bytea not null,
  created_at timestamptz not null default now()
);

-- Signed statements about the head of the chain, as they were handed out.
create table ledger_checkpoint (
  id bigint generated always as identity primary key,
  block bigint not null,
  created_at timestamptz not null,
  statement text not null,
  signature bytea not null,
  key_id text not null
);
create trigger ledger_checkpoint_append_only before update or delete or truncate
  on ledger_checkpoint for each statement execute function refuse_change();

-- The canonical bytes of an entry are PostgreSQL's binary form of these nine columns: the number of
-- fields, then for each its type (20, 25 or 1184), its length and its bytes. No two entries share
-- them. The verification of a backup builds the same bytes from the text of the rows.
create function ledger_entry_digest(e entry) returns bytea
language sql stable as $$
  select sha256(record_send(row(e.id, e.posting, e.step, e.account_id, e.currency, e.source,
    e.destination, e.amount, e.at)))
$$;

-- The entries of a range as a block keeps them.
create function ledger_digest(
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
create function ledger_totals(earlier text, after bigint, upto bigint) returns text
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

create function ledger_block_hash(b ledger_block) returns bytea
language sql stable as $$
  select sha256(convert_to(concat_ws(E'\n', 'tributary ledger block 1', b.number,
    encode(b.previous, 'hex'), b.after_id, b.upto_id, b.entries, b.entries_total,
    encode(b.root, 'hex'), b.totals, (extract(epoch from b.sealed_at) * 1000000)::bigint), 'UTF8'))
$$;

-- Seals at most `ids_max` ids after the head of the chain, up to `bound`. The caller has made sure
-- that no transaction can add an entry up to `bound` any more. Returns how many entries it sealed:
-- 0 when there is nothing left, null when another process is sealing.
create function ledger_seal(bound bigint, ids_max integer) returns integer
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
