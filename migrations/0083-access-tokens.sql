-- Access tokens: what scripts send to the admin API in a person's place. A token stands here only
-- as its SHA-256. Rows of ended tokens stay: the audit log tells by them which token did what.

create table access_token (
  id text primary key,
  person_id text not null references person on delete cascade,
  name text not null check (length(name) between 1 and 100),
  token_hash bytea not null unique,
  -- Its first and last four random characters.
  display text not null,
  scope text not null check (scope in ('read', 'write')),
  -- Whether it may do what asks people for a fresh proof.
  is_sensitive boolean not null,
  -- Made by an operator as one: it is worth nothing when its person is none any more.
  is_operator boolean not null,
  -- A person's id, or `cli:name`.
  created_by text not null,
  created_at timestamptz not null default now(),
  -- Null: it does not run out.
  expires_at timestamptz,
  -- Written at most once a minute.
  used_at timestamptz,
  revoked_at timestamptz
) with (fillfactor = 80);
create index access_token_by_person on access_token (person_id, created_at desc);
create index access_token_by_age on access_token (created_at desc, id desc);

-- Since when somebody has the role that they have: a token made before does not get it.
alter table membership add column role_since timestamptz not null default now();

-- By which token the actor did it; null for a sign-in.
alter table audit_log add column token_id text;
