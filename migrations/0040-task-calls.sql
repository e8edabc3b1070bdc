-- Calls that a worker makes for a task beside its submission, for example for the summary of a
-- recording. A row is committed before its first byte is sent; one that its process left in
-- `sending` may have been billed and is never charged to the caller.
create table task_call (
  id text primary key,
  task_id text not null,
  number integer not null,
  channel_id text not null,
  upstream_model text not null,
  state text not null default 'sending'
    check (state in ('sending', 'answered', 'refused', 'unknown')),
  failure text,
  sent_at timestamptz not null default now(),
  ended_at timestamptz,
  unique (task_id, number)
);
