-- The metered core: accounts and keys, the ledger, consumption records, the catalog, and the
-- leases by which one process finishes what another one began. Amounts are nano-units (1e-9 of
-- the account's currency) in bigint. Hot tables carry no foreign keys: the audit checks them.

create table account (
  id text primary key,
  name text not null,
  status text not null default 'active' check (status in ('active', 'suspended')),
  currency text not null default 'CNY',
  -- {"requests_per_minute": n, "concurrent_calls": n}; an absent member means no limit.
  limits jsonb not null default '{}',
  -- Encrypted with SECRET_KEY; signs webhooks.
  webhook_secret bytea,
  created_at timestamptz not null default now()
);

create table api_key (
  id text primary key,
  account_id text not null references account,
  name text not null default '',
  -- SHA-256 of the whole key: the key itself is shown once and never stored.
  hash bytea not null unique,
  -- First and last characters, for people to tell keys apart.
  display text not null,
  -- Model ids this key may call; null means all.
  models text[],
  limits jsonb not null default '{}',
  spend_limit bigint check (spend_limit >= 0),
  expires_at timestamptz,
  disabled_at timestamptz,
  -- The key that a rotation put in this one's place; this one then expires at the overlap's end.
  replaced_by text references api_key,
  created_at timestamptz not null default now()
);
create index api_key_by_account on api_key (account_id, created_at);

-- The ledger -------------------------------------------------------------------------------

-- A cache of the entries, one row per account; `audit` recomputes it.
create table balance (
  account_id text primary key references account,
  currency text not null,
  available bigint not null default 0 check (available >= 0),
  held bigint not null default 0 check (held >= 0),
  debt bigint not null default 0 check (debt >= 0)
) with (fillfactor = 50);

-- What a key with a spend limit has used; kept only for such keys.
create table key_spend (
  key_id text primary key references api_key,
  held bigint not null default 0 check (held >= 0),
  spent bigint not null default 0 check (spent >= 0)
) with (fillfactor = 50);

-- Append-only double entry: an amount moves from one ledger account to another, so every row
-- balances by construction. `available`, `held` and `debt` belong to the customer's account,
-- the others to the house. (posting, step) happens at most once.
create table entry (
  id bigint generated always as identity primary key,
  posting text not null,
  step text not null check (step in ('hold', 'charge', 'return', 'overrun', 'debt',
    'credit', 'repay', 'debit', 'forgive')),
  account_id text not null,
  currency text not null,
  source text not null check (source in ('available', 'held', 'debt', 'top_up', 'promotion',
    'adjustment', 'write_off')),
  destination text not null check (destination in ('available', 'held', 'debt', 'revenue',
    'adjustment')),
  amount bigint not null check (amount > 0),
  at timestamptz not null default now(),
  check (source <> destination),
  unique (posting, step)
);
create index entry_by_account on entry (account_id, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: post a correcting entry instead', tg_table_name
    using errcode = 'insufficient_privilege';
end $$;
create trigger entry_append_only before update or delete or truncate on entry
  for each statement execute function refuse_change();

-- Money frozen for one call or task. Exactly one of settled and released, once.
create table hold (
  id text primary key,
  request_id text not null,
  account_id text not null,
  key_id text not null,
  -- The process that serves the call; null when a task row owns the hold.
  owner_id text,
  task_id text,
  endpoint text not null,
  model text not null,
  price_version bigint,
  amount bigint not null check (amount >= 0),
  -- The quantities and facts the amount was computed from.
  estimate jsonb not null default '{}',
  -- True when key_spend moved with this hold.
  spend_limited boolean not null default false,
  state text not null default 'open' check (state in ('open', 'settled', 'released')),
  -- {"charge": "nanos", "lines": […]}: what would be owed if the process died now.
  checkpoint jsonb,
  created_at timestamptz not null default now(),
  closed_at timestamptz
) with (fillfactor = 80);
create index hold_open_by_owner on hold (owner_id) where state = 'open';
create index hold_open_by_account on hold (account_id) where state = 'open';
create index hold_by_request on hold (request_id);

-- Money put in or taken out by people: top-ups, promotions, adjustments. Also the audit trail.
create table credit (
  id text primary key,
  account_id text not null references account,
  kind text not null check (kind in ('top_up', 'promotion', 'adjustment', 'forgiveness')),
  -- Negative only for an adjustment that takes money back.
  amount bigint not null check (amount <> 0),
  reason text not null check (length(reason) between 1 and 500),
  actor text not null,
  -- A payment provider's event id: the same event credits once.
  event_id text unique,
  created_at timestamptz not null default now()
);
create index credit_by_account on credit (account_id, created_at);
create trigger credit_append_only before update or delete or truncate on credit
  for each statement execute function refuse_change();

-- A gateway process with a lease; when the lease runs out, others finish its calls.
create table owner (
  id text primary key,
  address text not null default '',
  started_at timestamptz not null default now(),
  lease_until timestamptz not null
);

-- Consumption records ----------------------------------------------------------------------

create table call (
  request_id text primary key,
  hold_id text not null unique,
  account_id text not null,
  key_id text not null,
  task_id text,
  endpoint text not null,
  model text not null,
  -- succeeded: delivered. failed: nothing owed. cancelled: the caller left. lost: our process died.
  status text not null check (status in ('succeeded', 'failed', 'cancelled', 'lost')),
  -- How the charge was found: usage, estimate, partial, params, checkpoint or none.
  basis text not null,
  -- True when the upstream's usage was absurd and the charge was clamped to the hold.
  review boolean not null default false,
  currency text not null,
  held bigint not null,
  charged bigint not null check (charged >= 0),
  returned bigint not null check (returned >= 0),
  -- The part of `charged` that neither the hold nor the balance could cover.
  debt bigint not null default 0 check (debt >= 0),
  price_version bigint,
  lines jsonb not null default '[]',
  attempts jsonb not null default '[]',
  -- Public error text of a call that failed.
  error text,
  created_at timestamptz not null,
  finished_at timestamptz not null default now()
);
create index call_by_account on call (account_id, created_at desc, request_id desc);
create index call_in_review on call (created_at) where review;

create table idempotency (
  account_id text not null,
  key text not null,
  route text not null,
  -- SHA-256 of the raw body.
  fingerprint bytea not null,
  request_id text not null,
  hold_id text not null,
  -- running; finished: the stored answer is replayed; streamed: too large or streamed, not stored.
  state text not null default 'running' check (state in ('running', 'finished', 'streamed')),
  status integer,
  content_type text,
  body bytea,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
create index idempotency_by_age on idempotency (created_at);
create index idempotency_by_hold on idempotency (hold_id);

-- The catalog ------------------------------------------------------------------------------

create table channel (
  id text primary key,
  upstream text not null,
  status text not null default 'active' check (status in ('active', 'retired')),
  version integer not null default 1,
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
  updated_at timestamptz not null default now()
);

create table price (
  version bigint generated always as identity primary key,
  model_id text not null,
  currency text not null,
  prices jsonb not null,
  created_at timestamptz not null default now()
);
create index price_by_model on price (model_id, version desc);
create trigger price_append_only before update or delete or truncate on price
  for each statement execute function refuse_change();

-- One row; its revision tells every instance that its copy of the catalog is old.
create table catalog_revision (
  singleton boolean primary key default true check (singleton),
  revision bigint not null default 0,
  updated_at timestamptz not null default now()
);
insert into catalog_revision default values;

-- Tell every instance when something it caches has changed. The payload is what to forget.
create function announce_account() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_account', coalesce(new.id, old.id));
  return null;
end $$;
create trigger account_announced after update or delete on account
  for each row execute function announce_account();

create function announce_key() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_account', coalesce(new.account_id, old.account_id));
  return null;
end $$;
create trigger api_key_announced after insert or update or delete on api_key
  for each row execute function announce_key();

create function announce_catalog() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_catalog', new.revision::text);
  return null;
end $$;
create trigger catalog_announced after update on catalog_revision
  for each row execute function announce_catalog();
