-- Price lists: what a customer pays where it is not the base price of a model.

-- `definition` is the list as an operator wrote it: {"default", "prices", "planned_prices"}.
-- `compiled` is what the rules come to, as gateways load it: explicit prices of each model with their
-- versions, the one in force first, then those that take effect at the `moments`. Text, since a
-- gateway reads only the lists that its callers have.
create table price_list (
  id text primary key,
  currency text not null,
  -- The list that prices what this one does not; null: the base prices.
  parent text references price_list,
  -- The account whose own list this is: its parent is then the list that the account has.
  account_id text unique,
  status text not null default 'active' check (status in ('active', 'retired')),
  source text not null default '',
  definition jsonb not null,
  compiled text not null default '{}',
  moments timestamptz[] not null default '{}',
  updated_at timestamptz not null default now()
);

-- Versions of lists stand beside those of the base prices, under a name that no model has: "m1 gold".
-- A gateway of the version before reads base prices by the names of models, and the prices of a task
-- by the version that its hold pins.
alter table price add column list_id text references price_list;
-- How the prices came about: {"of": "parent", "factor": "0.9", "from_version": "8"},
-- {"of": "cost", "factor": "1.2", "cost_versions": ["3"]}, {"prices": true}, {"hidden": true} for a
-- model that the list does not sell, {"inherit": true} for one that the parent prices again.
alter table price add column origin jsonb;

alter table account add column price_list text references price_list;
-- Which list an account had, and since when: the audit compares it with what was charged.
create table account_price_list (
  version bigint generated always as identity primary key,
  account_id text not null references account,
  list_id text references price_list,
  effective_from timestamptz not null default clock_timestamp(),
  created_by text not null default ''
);
create index account_price_list_by_account on account_price_list (account_id, version desc);
create trigger account_price_list_append_only before update or delete or truncate
  on account_price_list for each statement execute function refuse_change();
