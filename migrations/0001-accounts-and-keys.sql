-- Accounts and their API keys. Amounts everywhere are nano-units (1e-9 of the account's currency)
-- in bigint. Tables that every call writes carry no foreign keys: the audit checks them.

create table account (
  id text primary key,
  name text not null,
  status text not null default 'active' check (status in ('active', 'suspended')),
  currency text not null default 'CNY',
  -- {"requests_per_minute": n, "concurrent_calls": n}; an absent member means no limit.
  limits jsonb not null default '{}',
  -- Encrypted with SECRET_KEY; signs webhooks.
  webhook_secret bytea,
  -- The secret before the last rotation signs beside the current one until the overlap ends.
  webhook_secret_previous bytea,
  webhook_secret_previous_until timestamptz,
  -- The most that its files and media may take up; null for the gateway's own limit.
  stored_bytes_max bigint check (stored_bytes_max >= 0),
  -- Whether the gallery keeps the prompts of its images.
  keeps_prompts boolean not null default true,
  -- Below this balance the console warns; null for a threshold that follows the account's usage.
  low_balance_at bigint check (low_balance_at >= 0),
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
  -- playground: created by the console for an hour, and not in the list of keys.
  purpose text not null default 'calls' check (purpose in ('calls', 'playground')),
  -- Model ids this key may call; null means all.
  models text[],
  limits jsonb not null default '{}',
  spend_limit bigint check (spend_limit >= 0),
  expires_at timestamptz,
  disabled_at timestamptz,
  -- The key that a rotation put in this one's place; this one then expires at the overlap's end.
  replaced_by text references api_key,
  -- The first key of the rotations that led to this one; null for a key that replaced none. Keys
  -- that were rotated share one spend limit and one counter, which stands under the first of them.
  counter_key_id text references api_key,
  created_at timestamptz not null default now()
);
create index api_key_by_account on api_key (account_id, created_at);
create index api_key_by_counter on api_key (counter_key_id) where counter_key_id is not null;

-- A rotation joins the new key to the counter of the old one.
create function join_spend_counter() returns trigger language plpgsql as $$
begin
  update api_key set counter_key_id = coalesce(new.counter_key_id, new.id)
  where id = new.replaced_by and counter_key_id is null;
  return null;
end $$;
create trigger api_key_joins_counter after update of replaced_by on api_key
  for each row when (
    new.replaced_by is not null and new.replaced_by is distinct from old.replaced_by)
  execute function join_spend_counter();

-- Every gateway drops its cached copies of the account and of its keys.
create function notify_account() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_account', coalesce(new.id, old.id));
  return null;
end $$;
create trigger account_notify after update or delete on account
  for each row execute function notify_account();

create function notify_key() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_account', coalesce(new.account_id, old.account_id));
  return null;
end $$;
create trigger api_key_notify after insert or update or delete on api_key
  for each row execute function notify_key();
