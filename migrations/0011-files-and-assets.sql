-- Files that accounts upload, the media that tasks produce, and the storage that both use.

-- Whose a file is, where its bytes lie, and the unguessable token under which anybody may fetch
-- them until they expire.
create table file (
  id text primary key,
  account_id text not null,
  token text not null unique,
  storage_key text not null,
  filename text not null,
  purpose text not null,
  content_type text not null,
  bytes bigint not null check (bytes >= 0),
  -- An upload that is repeated under the same Idempotency-Key within 24 hours creates no second
  -- file.
  sha256 bytea,
  request_id text,
  idempotency_key text,
  -- The upload of a call, published while the call lasts so that a vendor can fetch it. Not one of
  -- the account's files: neither listed nor counted as stored.
  published boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index file_by_account on file (account_id, created_at desc, id desc);
create index file_by_expiry on file (expires_at);
create unique index file_by_idempotency on file (account_id, idempotency_key)
  where idempotency_key is not null;
-- The stored bytes of an account are summed for every upload and copy: from the index alone.
create index file_bytes on file (account_id) include (bytes, expires_at);

-- Results of tasks: images for the gallery; videos, last frames and erased copies for the library.
-- The rows are written in the transaction that ends the task. Each is also an entry of a queue:
-- its bytes are copied into our storage before the vendor's link expires.
create table asset (
  id text primary key,
  account_id text not null,
  kind text not null check (kind in ('image', 'video', 'last_frame', 'erased')),
  task_id text not null,
  -- The position among the images of a task.
  position smallint not null default 0,
  request_id text not null,
  model text not null,
  -- Only images have one, and only until they are deleted.
  prompt text,
  -- The asset of the original whose subtitles were erased.
  original_id text,
  -- The vendor's link, and until when it is thought to work.
  source_url text not null,
  source_expires_at timestamptz not null,
  -- Part of our own address, which anybody may fetch who knows it.
  token text not null unique,
  -- waiting: not copied yet. failed: the link expired before a copy succeeded.
  state text not null default 'waiting' check (state in ('waiting', 'stored', 'failed')),
  -- When the next copy is due, null once that is over. A claimed copy's lease ends here.
  due_at timestamptz default now(),
  fence bigint not null default 0,
  attempts integer not null default 0,
  -- Why the last copy failed, in words for the account's owner.
  failure text,
  storage_key text,
  content_type text,
  bytes bigint check (bytes >= 0),
  width integer,
  height integer,
  seconds double precision,
  created_at timestamptz not null default now(),
  stored_at timestamptz,
  unique (task_id, kind, position),
  check ((state = 'waiting') = (due_at is not null)),
  check ((state = 'stored') = (storage_key is not null))
) with (fillfactor = 80);
create index asset_by_account on asset (account_id, created_at desc, id desc);
create index asset_due on asset (due_at) where due_at is not null;
create index asset_bytes on asset (account_id) include (bytes) where bytes is not null;

-- Content in storage that belongs to no row: it is being written, or its row is gone. It is noted
-- here before its first byte is, so that no crash leaves bytes that are never removed.
create table loose_blob (
  storage_key text primary key,
  -- From then on it is written no more and may be removed.
  due_at timestamptz not null
);
create index loose_blob_due on loose_blob (due_at);
