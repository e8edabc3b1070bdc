-- Signing in to the console with an OpenID Connect provider.

create table identity_provider (
  id text primary key,
  name text not null check (length(name) between 1 and 100),
  issuer text not null check (length(issuer) <= 2048),
  client_id text not null check (length(client_id) <= 500),
  -- Encrypted with SECRET_KEY; null for a client without one.
  client_secret bytea,
  scopes text not null default 'openid email profile',
  -- Which claims give which roles: the first that matches decides.
  rules jsonb not null default '[]',
  -- Addresses count as verified where the provider does not say whether they are.
  trusts_email boolean not null default false,
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);

-- A person at a provider. Addresses and names change and are given to others: only the issuer and its
-- subject identify.
create table person_identity (
  issuer text not null,
  subject text not null check (length(subject) <= 255),
  person_id text not null references person on delete cascade,
  provider_id text not null,
  -- As the provider stated it when it was linked; empty if it did not.
  email text not null default '',
  created_at timestamptz not null default now(),
  used_at timestamptz,
  primary key (issuer, subject)
);
create index person_identity_by_person on person_identity (person_id);

-- A sign-in under way at a provider: known by its cookie, from which state, nonce and verifier follow.
-- Deleted when the browser returns.
create table provider_step (
  token_hash bytea primary key,
  provider_id text not null,
  intent text not null check (intent in ('sign_in', 'link', 'step_up', 'invitation')),
  -- The session that links or steps up.
  session_id text,
  -- The invitation that was opened in this browser.
  link_id text,
  return_to text not null default '/',
  expires_at timestamptz not null
);
create index provider_step_by_age on provider_step (expires_at);

-- The provider whose rules gave the role, and take it again; null for one given by hand.
alter table membership add column granted_by text;
alter table person add column operator_by text;

alter table console_session add column provider_id text;
-- Encrypted with SECRET_KEY; names the session when it ends at the provider too.
alter table console_session add column id_token bytea;
-- Whether the provider stated a second factor.
alter table console_session add column has_factor boolean not null default false;
