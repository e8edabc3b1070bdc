-- What tasks made: images for the gallery; videos, last frames and erased copies for the library.
-- The rows are written in the transaction that ends the task. Each is also an entry of a queue:
-- its bytes are copied into our storage before the vendor's link expires.
create table asset (
  id text primary key,
  account_id text not null,
  kind text not null check (kind in ('image', 'video', 'last_frame', 'erased')),
  task_id text not null,
  -- Which of a task's images it is.
  position smallint not null default 0,
  request_id text not null,
  model text not null,
  -- Only images have one, and only until they are deleted.
  prompt text,
  -- Whose subtitles were erased: the asset of the original.
  original_id text,
  -- The vendor's link, and until when it is thought to work.
  source_url text not null,
  source_expires_at timestamptz not null,
  -- Part of our own address, which anybody may fetch who knows it.
  token text not null unique,
  -- waiting: not copied yet. failed: the link expired before a copy was made.
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

-- Content in storage that belongs to no row: it is being written, or its row is gone. It is noted
-- here before its first byte is, so that no crash leaves bytes which nobody would ever remove.
create table loose_blob (
  storage_key text primary key,
  -- From then on nobody writes it any more and it may be removed.
  due_at timestamptz not null
);
create index loose_blob_due on loose_blob (due_at);
