-- The catalog: channels, models, prices and upstream costs.

create table channel (
  id text primary key,
  upstream text not null,
  status text not null default 'active' check (status in ('active', 'retired')),
  version integer not null default 1,
  -- The catalog file that it came from: a channel or model that is absent from its file is retired
  -- when the file is applied again, and those of other files are left alone.
  source text not null default '',
  updated_at timestamptz not null default now()
);

-- Every version of a channel's settings is kept: an open task goes on with the credentials
-- that submitted it. Secrets are encrypted with SECRET_KEY; `env:NAME` is stored as written.
create table channel_version (
  channel_id text not null references channel,
  version integer not null,
  settings jsonb not null,
  secrets bytea,
  created_at timestamptz not null default now(),
  primary key (channel_id, version)
);

create table model (
  id text primary key,
  type text not null,
  free boolean not null default false,
  status text not null default 'active' check (status in ('active', 'retired')),
  limits jsonb not null default '{}',
  routes jsonb not null default '[]',
  -- Further fields of the catalog entry (display name, description, owner, capabilities).
  details jsonb not null default '{}',
  price_version bigint,
  source text not null default '',
  updated_at timestamptz not null default now()
);

-- A version holds from `effective_from` by the database's clock, so no job has to run at that
-- moment.
create table price (
  version bigint generated always as identity primary key,
  model_id text not null,
  currency text not null,
  prices jsonb not null,
  effective_from timestamptz not null default clock_timestamp(),
  -- The catalog file that planned it: a planned version that the file no longer has is withdrawn.
  source text not null default '',
  created_at timestamptz not null default now()
);
create index price_by_model on price (model_id, version desc);
create index price_by_time on price (model_id, effective_from desc, version desc);
create trigger price_append_only before update or delete or truncate on price
  for each statement execute function refuse_change();

-- A planned version that is withdrawn never holds.
create table price_withdrawal (
  version bigint primary key references price,
  at timestamptz not null default clock_timestamp()
);
create trigger price_withdrawal_append_only before update or delete or truncate
  on price_withdrawal for each statement execute function refuse_change();

-- Upstream costs of a route, versioned like prices and in their shape. The upstream cost of a call
-- is written with its record, by the statement that settles it.
create table upstream_cost (
  version bigint generated always as identity primary key,
  model_id text not null,
  channel_id text not null,
  upstream_model text not null,
  currency text not null,
  costs jsonb not null,
  created_at timestamptz not null default now()
);
create index upstream_cost_by_model on upstream_cost (model_id, version desc);
create trigger upstream_cost_append_only before update or delete or truncate on upstream_cost
  for each statement execute function refuse_change();

-- One row; its revision tells every gateway that its copy of the catalog is old.
create table catalog_revision (
  singleton boolean primary key default true check (singleton),
  revision bigint not null default 0,
  updated_at timestamptz not null default now()
);
insert into catalog_revision default values;

create function notify_catalog() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_catalog', new.revision::text);
  return null;
end $$;
create trigger catalog_notify after update on catalog_revision
  for each row execute function notify_catalog();
