-- Webhooks: deliveries and their attempts. A delivery is written in the transaction that ends its
-- task and is itself the queue: due time, lease and fence are in the row.

create table delivery (
  id text primary key,
  account_id text not null,
  -- The task whose end it delivers; null for a test send.
  task_id text,
  -- The kind of the task that ended, or `test`.
  kind text not null,
  url text not null check (length(url) <= 2048),
  -- host:port of the URL: the connections to one receiver share a limit.
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
  -- Fencing token: counts claims, and an attempt with an older number writes nothing.
  fence bigint not null default 0,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((state = 'pending') = (finished_at is null)),
  check (state = 'pending' or lease_until is null)
) with (fillfactor = 80);
-- The end of a task is delivered once; people may ask for more.
create unique index delivery_by_task on delivery (task_id)
  where redelivery_of is null and task_id is not null;
-- The timeline of a task shows its redeliveries too, which the unique index leaves out.
create index delivery_of_task on delivery (task_id) where task_id is not null;
create index delivery_again on delivery (redelivery_of) where redelivery_of is not null;
create index delivery_due on delivery (host, due_at)
  where state = 'pending' and lease_until is null;
create index delivery_next on delivery (due_at) where state = 'pending' and lease_until is null;
create index delivery_under_way on delivery (lease_until) where lease_until is not null;
create index delivery_by_account on delivery (account_id, created_at desc, id desc);
-- For retention: deliveries that ended long ago are found without reading the others.
create index delivery_finished on delivery (finished_at) where finished_at is not null;
create index delivery_by_age on delivery (created_at, id);

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
