-- Files that accounts upload: whose they are, where their bytes lie, and the unguessable token
-- under which anybody may fetch them until they expire.
create table file (
  id text primary key,
  account_id text not null,
  token text not null unique,
  storage_key text not null,
  filename text not null,
  purpose text not null,
  content_type text not null,
  bytes bigint not null check (bytes >= 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index file_by_account on file (account_id, created_at desc, id desc);
create index file_by_expiry on file (expires_at);
