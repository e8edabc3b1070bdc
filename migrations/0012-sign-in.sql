-- People who may sign in to the console: their accounts, their credentials and their actions.
-- Tokens stand here only as SHA-256; times are the database's.

create table person (
  id text primary key,
  -- As typed, trimmed; compared without regard to case.
  email text not null check (length(email) between 3 and 254),
  name text not null check (length(name) between 1 and 200),
  language text not null default 'en' check (language in ('en', 'zh')),
  is_operator boolean not null default false,
  -- `$argon2id$…`; null until the person has chosen one.
  password_hash text,
  -- Encrypted with SECRET_KEY; null without an authenticator app.
  totp_secret bytea,
  -- One that was shown but not confirmed with a code yet.
  totp_pending bytea,
  -- The 30-second step of the last code that was accepted: no code is accepted twice.
  totp_last_step bigint not null default 0,
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index person_by_email on person (lower(email));

create table membership (
  person_id text not null references person on delete cascade,
  account_id text not null references account,
  role text not null check (role in ('owner', 'member')),
  created_at timestamptz not null default now(),
  -- Since when the person has this role: an access token from before does not get it.
  role_since timestamptz not null default now(),
  primary key (person_id, account_id)
);
create index membership_by_account on membership (account_id);

create table console_session (
  id text primary key,
  person_id text not null references person on delete cascade,
  token_hash bytea not null unique,
  created_at timestamptz not null default now(),
  -- Written at most once a minute: ends 30 minutes after it, and 12 hours after created_at.
  seen_at timestamptz not null default now(),
  stepped_up_until timestamptz,
  -- The challenge that a passkey has to sign: for adding one, or for a step-up.
  challenge bytea,
  challenge_until timestamptz,
  ip text not null default '',
  user_agent text not null default '' check (length(user_agent) <= 300)
) with (fillfactor = 80);
create index console_session_by_person on console_session (person_id);

-- A sign-in under way: a password was right and a second factor is asked for, or a passkey was
-- asked to sign. Deleted when it is used.
create table sign_in_step (
  token_hash bytea primary key,
  -- Null before the person is known: a passkey names the person itself.
  person_id text references person on delete cascade,
  challenge bytea,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index sign_in_step_by_age on sign_in_step (expires_at);

create table recovery_code (
  person_id text not null references person on delete cascade,
  -- SHA-256: the codes carry 80 random bits.
  code_hash bytea not null,
  primary key (person_id, code_hash)
);

create table passkey (
  id text primary key,
  person_id text not null references person on delete cascade,
  name text not null check (length(name) between 1 and 100),
  credential_id bytea not null unique check (octet_length(credential_id) <= 1023),
  -- SubjectPublicKeyInfo, DER.
  public_key bytea not null,
  -- The authenticator's own count of signatures; 0 where it does not count.
  sign_count bigint not null default 0,
  transports text[] not null default '{}',
  -- Whether it lives in a password manager, in several places.
  backed_up boolean not null default false,
  created_at timestamptz not null default now(),
  used_at timestamptz
);
create index passkey_by_person on passkey (person_id);

-- One-use links: the first set-up, invitations, resets of a password.
create table console_link (
  id text primary key,
  kind text not null check (kind in ('setup', 'invitation', 'reset')),
  token_hash bytea not null unique,
  -- The address that it invites.
  email text,
  account_id text references account,
  role text check (role in ('owner', 'member')),
  is_operator boolean not null default false,
  -- The person whose password it resets.
  person_id text references person on delete cascade,
  -- A person's id, or `cli:name`.
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index console_link_by_account on console_link (account_id) where used_at is null;

-- The use of rate limits, shared by all gateways: a whole limit is available again at `full_at`.
create table throttle (
  key text primary key,
  full_at timestamptz not null
) with (fillfactor = 50);
create index throttle_by_age on throttle (full_at);

-- Access tokens, which scripts send to the admin API in a person's place. Rows of ended tokens
-- stay: the audit log refers to them.
create table access_token (
  id text primary key,
  person_id text not null references person on delete cascade,
  name text not null check (length(name) between 1 and 100),
  token_hash bytea not null unique,
  -- Its first and last four random characters.
  display text not null,
  scope text not null check (scope in ('read', 'write')),
  -- Whether it may act where people need a step-up.
  is_sensitive boolean not null,
  -- Created with operator rights: invalid once its person is not an operator any more.
  is_operator boolean not null,
  -- A person's id, or `cli:name`.
  created_by text not null,
  created_at timestamptz not null default now(),
  -- Null for a token that does not expire.
  expires_at timestamptz,
  -- Written at most once a minute.
  used_at timestamptz,
  revoked_at timestamptz
) with (fillfactor = 80);
create index access_token_by_person on access_token (person_id, created_at desc);
create index access_token_by_age on access_token (created_at desc, id desc);

create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- A person's id, or `cli:name`; null when the person is not known.
  actor text,
  -- The access token that the actor used; null for a sign-in.
  token_id text,
  account_id text,
  ip text not null default '',
  action text not null check (length(action) between 1 and 200),
  target text not null default '' check (length(target) <= 500),
  -- Never secrets.
  details jsonb not null default '{}'
);
create index audit_log_by_account on audit_log (account_id, id desc);
create index audit_log_by_actor on audit_log (actor, id desc);
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
