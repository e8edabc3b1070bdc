-- Prices that begin later: a version holds from its moment by the database's clock, so nothing has
-- to run at that moment. `created_at` is when it was written. A planned version that is withdrawn
-- never holds; like the versions themselves, that is only ever added.
alter table price
  add column effective_from timestamptz,
  -- Which catalog file planned it: what that file no longer says is withdrawn.
  add column source text not null default '';
alter table price disable trigger price_append_only;
update price set effective_from = created_at;
alter table price enable trigger price_append_only;
alter table price
  alter column effective_from set default clock_timestamp(),
  alter column effective_from set not null;
create index price_by_time on price (model_id, effective_from desc, version desc);

create table price_withdrawal (
  version bigint primary key references price,
  at timestamptz not null default clock_timestamp()
);
create trigger price_withdrawal_append_only before update or delete or truncate
  on price_withdrawal for each statement execute function refuse_change();
