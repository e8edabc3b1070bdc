-- Consumption records, and the state that outlives a call: Idempotency-Keys and stored answers.

-- Every paid call writes one: a hold's id is derived from its request's id, so there is no index on
-- hold_id.
create table call (
  request_id text primary key,
  hold_id text not null,
  account_id text not null,
  key_id text not null,
  task_id text,
  endpoint text not null,
  model text not null,
  -- succeeded: delivered. failed: nothing owed. cancelled: the caller left. lost: our process died.
  status text not null check (status in ('succeeded', 'failed', 'cancelled', 'lost')),
  -- How the charge was found: usage, estimate, partial, params, checkpoint or none.
  basis text not null,
  -- True when the reported usage was implausible and the charge was limited.
  review boolean not null default false,
  currency text not null,
  held bigint not null,
  charged bigint not null check (charged >= 0),
  returned bigint not null check (returned >= 0),
  -- The part of `charged` that neither the hold nor the balance could cover.
  debt bigint not null default 0 check (debt >= 0),
  price_version bigint,
  lines jsonb not null default '[]',
  attempts jsonb not null default '[]',
  -- Public error text of a call that failed.
  error text,
  -- The vendor's bill for the call, never shown to customers. Null when the route has no upstream
  -- costs or the vendor's bill cannot be known.
  upstream_cost bigint check (upstream_cost >= 0),
  upstream_cost_version bigint,
  -- The charge of the time when the call was taken for lost; null for a call that never was.
  lost_charge bigint check (lost_charge >= 0),
  created_at timestamptz not null,
  finished_at timestamptz not null default now()
);
create index call_by_account on call (account_id, created_at desc, request_id desc);
create index call_in_review on call (created_at) where review;
create index call_unsuccessful on call (account_id, created_at desc, request_id desc)
  where status <> 'succeeded';
-- Calls whose upstream cost exceeds their charge: operators list them, and there should be few.
create index call_at_a_loss on call (created_at, request_id) where upstream_cost > charged;
-- Operators list the newest of all accounts. Rows come in about this order, so that the index grows
-- at its end and costs little.
create index call_by_age on call (created_at, request_id);
-- For the usage figures; a block range index over times that only grow costs next to nothing.
create index call_by_end on call using brin (finished_at)
  with (pages_per_range = 16, autosummarize = on);

create table idempotency (
  account_id text not null,
  key text not null,
  route text not null,
  -- SHA-256 of the raw body.
  fingerprint bytea not null,
  request_id text not null,
  hold_id text not null,
  -- running. finished: the stored answer is replayed. streamed: too large or streamed, not stored.
  -- lost: the hold was closed without a charge, and the process that ran the call may still run.
  state text not null default 'running'
    check (state in ('running', 'finished', 'streamed', 'lost')),
  status integer,
  content_type text,
  body bytea,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
create index idempotency_by_age on idempotency (created_at);
create index idempotency_by_hold on idempotency (hold_id);
create index idempotency_lost on idempotency (created_at) where state = 'lost';

-- Answers that a vendor keeps under an id of its own: whose they are and where they lie. Several
-- accounts share one vendor account, so the id alone must open nothing.
create table stored_answer (
  id text primary key,
  account_id text not null,
  channel_id text not null,
  -- Tokens of the answer and of all its input: a later answer that builds on it has these tokens as
  -- input again, and they are in no request. Null where the vendor did not state them.
  tokens bigint,
  created_at timestamptz not null default now()
);
create index stored_answer_by_account on stored_answer (account_id, created_at desc);
