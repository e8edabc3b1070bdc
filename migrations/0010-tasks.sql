-- Tasks: work that lasts minutes to hours. The task row is itself the queue: `due_at` says when
-- somebody must look, a claim moves it forward by the lease and raises the fence, and whoever
-- writes must still hold the fence. There is no second job table that could disagree.

create table task (
  id text primary key,
  kind text not null check (kind in ('video', 'minutes', 'erase', 'image')),
  account_id text not null,
  key_id text not null,
  request_id text not null,
  hold_id text not null unique,
  endpoint text not null,
  model text not null,
  -- submitting: the upstream has not (or may not have) accepted it yet.
  state text not null default 'submitting'
    check (state in ('submitting', 'queued', 'processing', 'succeeded', 'failed')),
  -- What the caller asked for, without the content: that is sent once and not kept.
  request jsonb not null,
  -- The most it may come to and what prices ask for, as they were at the hold.
  quantities jsonb not null,
  facts jsonb not null,
  -- The attempt that carries the task now, and its channel, by which looks are counted.
  attempt_id text not null,
  channel_id text not null,
  callback_url text,
  result jsonb,
  usage jsonb,
  error_code text,
  error_message text,
  -- When the next look is due, null once the state is terminal. A claimed task's lease ends here.
  due_at timestamptz default now(),
  fence bigint not null default 0,
  looks integer not null default 0,
  -- Looks that failed in a row, for the back-off.
  failures integer not null default 0,
  -- Since when the upstream says that it knows no such task.
  gone_since timestamptz,
  -- A cancel was on its way to the upstream: committed before it is sent.
  cancel_sent_at timestamptz,
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
-- Only open tasks are in it: a million finished ones do not slow the queue down.
create index task_due on task (channel_id, due_at) where due_at is not null;
create index task_by_account on task (account_id, kind, created_at desc, id desc);

-- One row for each submission to an upstream, committed before the first byte is sent. The
-- upstream's id belongs to the attempt, so a second try can never be taken for the first.
create table task_attempt (
  id text primary key,
  task_id text not null,
  number integer not null,
  channel_id text not null,
  -- Later looks use the credentials that submitted.
  channel_version integer not null,
  upstream_model text not null,
  -- prepared: nothing was sent. sending: it may have been. accepted: the upstream named its id.
  -- refused: it clearly did not take it. unknown: nobody can tell yet. given_up: nobody ever could.
  state text not null default 'prepared'
    check (state in ('prepared', 'sending', 'accepted', 'refused', 'unknown', 'given_up')),
  upstream_id text,
  failure text,
  status integer,
  -- Passes over the upstream's own list without finding it.
  passes integer not null default 0,
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

-- The visible timeline of a task.
create table task_event (
  id bigint generated always as identity primary key,
  task_id text not null,
  kind text not null,
  detail jsonb not null default '{}',
  at timestamptz not null default clock_timestamp()
);
create index task_event_by_task on task_event (task_id, id);

-- What an upstream may have billed and no caller was charged for.
create table orphan_cost (
  attempt_id text primary key,
  task_id text not null,
  channel_id text not null,
  upstream_model text not null,
  upstream_id text,
  -- unknown_submit, ambiguous_submit, erased, expired, late_success.
  reason text not null,
  created_at timestamptz not null default now()
);

-- Wakes the workers for a task that is due before they would look by themselves.
create function announce_due_task() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_task', new.channel_id);
  return null;
end $$;
create trigger task_due_announced after insert or update of due_at on task
  for each row when (new.due_at < now() + interval '1 second')
  execute function announce_due_task();
