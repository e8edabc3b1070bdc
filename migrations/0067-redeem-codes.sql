-- Codes that put money into an account, once. The code itself is never stored, only its SHA-256.
create table redeem_code (
  id text primary key,
  hash bytea not null unique,
  -- The last characters, for people to tell codes apart.
  display text not null,
  kind text not null check (kind in ('top_up', 'promotion')),
  amount bigint not null check (amount > 0),
  currency text not null,
  -- What the operator calls the lot it was made with.
  note text not null default '',
  expires_at timestamptz,
  voided_at timestamptz,
  created_by text not null,
  created_at timestamptz not null default now(),
  account_id text,
  used_by text,
  used_at timestamptz,
  check ((used_at is null) = (account_id is null)),
  check (used_at is null or voided_at is null)
);
create index redeem_code_by_age on redeem_code (created_at desc, id desc);
