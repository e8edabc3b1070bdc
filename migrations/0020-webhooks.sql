-- Webhooks: deliveries and their attempts. A delivery is written in the transaction that ends its
-- task and is itself the queue: due time, lease and fence are in the row.

-- The secret before the last rotation signs beside the current one until the overlap ends.
alter table account
  add column webhook_secret_previous bytea,
  add column webhook_secret_previous_until timestamptz;

create table delivery (
  id text primary key,
  account_id text not null,
  -- The task it tells of; null for a test send.
  task_id text,
  -- What kind of task ended, or `test`.
  kind text not null,
  url text not null check (length(url) <= 2048),
  -- host:port of the URL: what shares the limit of connections to one receiver.
  host text not null,
  -- The same bytes in every attempt.
  body bytea not null,
  -- Set on a delivery that a person asked for again: the first one, whose bytes it sends.
  redelivery_of text,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dropped')),
  -- Attempts begun; committed before the first byte is sent.
  attempts smallint not null default 0 check (attempts between 0 and 4),
  -- When the next attempt is due; meaningless once it is delivered or dropped.
  due_at timestamptz not null default now(),
  -- Set while an attempt is under way; when it runs out, the attempt counts as lost.
  lease_until timestamptz,
  -- Counts claims: who wakes up with an older number has nothing to say any more.
  fence bigint not null default 0,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((state = 'pending') = (finished_at is null)),
  check (state = 'pending' or lease_until is null)
) with (fillfactor = 80);
-- A task is announced once; people may ask for more.
create unique index delivery_by_task on delivery (task_id)
  where redelivery_of is null and task_id is not null;
create index delivery_again on delivery (redelivery_of) where redelivery_of is not null;
create index delivery_due on delivery (host, due_at) where state = 'pending' and lease_until is null;
create index delivery_next on delivery (due_at) where state = 'pending' and lease_until is null;
create index delivery_under_way on delivery (lease_until) where lease_until is not null;
create index delivery_by_account on delivery (account_id, created_at desc, id desc);

create table delivery_attempt (
  delivery_id text not null references delivery,
  number smallint not null check (number between 1 and 4),
  started_at timestamptz not null,
  -- Null while it is under way. lost: the process that sent it died before it knew the answer.
  outcome text check (outcome in ('accepted', 'refused', 'lost')),
  -- The status of the answer; null when there was none.
  status smallint,
  -- Why it was refused, for the account's owner.
  error text,
  latency_ms integer,
  -- The first KB of the answer's body.
  answer bytea check (octet_length(answer) <= 1024),
  finished_at timestamptz,
  primary key (delivery_id, number)
);
