-- Tasks: work that lasts minutes to hours. The task row is itself the queue: `due_at` says when the
-- next poll is due, a claim moves it forward by the lease and raises the fence, and a worker writes
-- only while it holds the fence. There is no second job table that could disagree.

create table task (
  id text primary key,
  kind text not null check (kind in ('video', 'minutes', 'erase', 'image', 'response')),
  account_id text not null,
  key_id text not null,
  request_id text not null,
  hold_id text not null unique,
  endpoint text not null,
  model text not null,
  -- submitting: the upstream has not (or may not have) accepted it yet.
  state text not null default 'submitting'
    check (state in ('submitting', 'queued', 'processing', 'succeeded', 'failed')),
  -- The caller's parameters without the content: that is sent once and not kept.
  request jsonb not null,
  -- The largest quantities it may come to, and the facts that prices depend on, as of the hold.
  quantities jsonb not null,
  facts jsonb not null,
  -- The pipeline's quote for the hold of a background response.
  quote jsonb,
  -- UTF-8 bytes of output that streams have delivered: owed also when no usage is ever stated.
  output_bytes bigint not null default 0,
  -- The attempt that carries the task now, and its channel, by which polls are counted.
  attempt_id text not null,
  channel_id text not null,
  webhook_url text,
  result jsonb,
  usage jsonb,
  error_code text,
  error_message text,
  -- When the next poll is due, null once the state is terminal. A claimed task's lease ends here.
  due_at timestamptz default now(),
  -- Whether `due_at` is the end of a lease: a vendor callback hurries a task that waits, and does
  -- not take it from the worker that polls.
  is_claimed boolean not null default false,
  fence bigint not null default 0,
  polls integer not null default 0,
  -- Polls that failed in a row, for the backoff.
  failures integer not null default 0,
  -- Since when the upstream says that it knows no such task.
  gone_since timestamptz,
  -- A cancel was on its way to the upstream: committed before it is sent.
  cancel_sent_at timestamptz,
  -- The vendor's answer to the creation was lost, so the caller was answered with our own id. The
  -- task is shown and delivered under that id also when the vendor's is found later.
  answer_lost boolean not null default false,
  -- From then on the task is given up.
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  finished_at timestamptz,
  -- The caller removed it from view; its records stay.
  deleted_at timestamptz,
  check ((state in ('succeeded', 'failed')) = (finished_at is not null)),
  check ((finished_at is null) = (due_at is not null))
) with (fillfactor = 70);
-- The queue, partitioned by channel and kind: polls take a moment, calls take minutes, and neither
-- may stand in the other's way. Only open tasks are in it: finished ones do not slow it down.
create index task_due_by_kind on task (channel_id, kind, due_at) where due_at is not null;
-- Calls are taken from the accounts in turn, so each account's first is at hand.
create index task_due_in_turn on task (channel_id, kind, account_id, due_at)
  where due_at is not null;
create index task_by_account on task (account_id, kind, created_at desc, id desc);
create index task_of_account on task (account_id, created_at desc, id desc)
  where deleted_at is null;
-- Operators list the newest of all accounts.
create index task_by_age on task (created_at, id);

-- The request of a task whose work is one call, made by a worker. Kept only until the task ends:
-- the process that makes the call may be another than the one that took the request.
create table task_body (
  task_id text primary key,
  body bytea not null
);

-- One row for each submission to an upstream, committed before the first byte is sent. The
-- upstream's id belongs to the attempt, so a second try can never be taken for the first.
create table task_attempt (
  id text primary key,
  task_id text not null,
  number integer not null,
  channel_id text not null,
  -- Later polls use the credentials that submitted.
  channel_version integer not null,
  upstream_model text not null,
  -- prepared: nothing was sent. sending: it may have been. accepted: the upstream named its id.
  -- answered: the upstream's answer was the work, so it has no id there. refused: it clearly did
  -- not take it. unknown: the outcome cannot be told yet. given_up: it never could.
  state text not null default 'prepared' check (
    state in ('prepared', 'sending', 'accepted', 'answered', 'refused', 'unknown', 'given_up')),
  upstream_id text,
  -- The upstream costs that held when the attempt was sent.
  upstream_cost_version bigint,
  failure text,
  status integer,
  -- Passes over the upstream's own list without finding it.
  passes integer not null default 0,
  -- Vendor callbacks are never believed: they only say which id to poll, and when. The id that the
  -- vendor named while the outcome of the submission was unknown:
  callback_upstream_id text,
  callback_count integer not null default 0,
  -- When the latest callback made the task due, which may still be to come.
  callback_due_at timestamptz,
  prepared_at timestamptz not null default now(),
  sent_at timestamptz,
  ended_at timestamptz,
  unique (task_id, number),
  check ((state = 'accepted') = (upstream_id is not null))
);
create unique index task_attempt_by_upstream on task_attempt (channel_id, upstream_id)
  where upstream_id is not null;
create index task_attempt_by_upstream_id on task_attempt (upstream_id)
  where upstream_id is not null;
create index task_attempt_open on task_attempt (channel_id, upstream_model)
  where state in ('sending', 'unknown');

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

-- The visible timeline of a task.
create table task_event (
  id bigint generated always as identity primary key,
  task_id text not null,
  kind text not null,
  detail jsonb not null default '{}',
  at timestamptz not null default clock_timestamp()
);
create index task_event_by_task on task_event (task_id, id);

-- Attempts that an upstream may have billed and no caller was charged for.
create table uncharged_cost (
  attempt_id text primary key,
  task_id text not null,
  channel_id text not null,
  upstream_model text not null,
  upstream_id text,
  -- unknown_submit, ambiguous_submit, erased, expired, late_success.
  reason text not null,
  -- The most that the upstream can have billed; null where it is not known.
  upstream_cost bigint check (upstream_cost >= 0),
  created_at timestamptz not null default now()
);
create index uncharged_cost_by_age on uncharged_cost (created_at, attempt_id);

-- Wakes the workers for a task that is due before their next claim.
create function notify_due_task() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_task', new.channel_id);
  return null;
end $$;
create trigger task_due_notify after insert or update of due_at on task
  for each row when (new.due_at < now() + interval '1 second')
  execute function notify_due_task();
