-- Budgets: what may be spent within a day, week, month or ever, of money, calls or tokens. An account
-- with budgets says so in its balance, which every hold locks, so that calls without any read none.
create table budget (
  id text primary key,
  account_id text not null references account,
  scope text not null check (scope in ('account', 'key', 'member', 'tag', 'end_user')),
  -- The key, the person or the tag; empty for the account and for each of its end users.
  subject text not null default '',
  -- What calls are matched by: `account`, `end_user`, `tag:T`, `member:ID`, or `key:ID` of the first
  -- of a key's rotations.
  counted_under text not null,
  unit text not null check (unit in ('money', 'call', 'input_token', 'output_token')),
  -- Nano-units of money, or a count.
  amount bigint not null check (amount >= 0),
  period text not null check (period in ('day', 'week', 'month', 'total')),
  time_zone text not null default 'UTC',
  -- 1 is Monday.
  week_start smallint not null default 1 check (week_start between 1 and 7),
  -- Model ids; null means all.
  models text[],
  action text not null default 'refuse' check (action in ('refuse', 'warn')),
  -- Parts of the amount, in hundredths, at which an event is recorded.
  thresholds smallint[] not null default '{}',
  -- End users with a counter of their own in each window; all others share one.
  end_users_max integer not null default 10000 check (end_users_max > 0),
  -- Owners change and delete those of owners alone.
  set_by text not null check (set_by in ('operator', 'owner')),
  created_at timestamptz not null default now()
);
create index budget_by_account on budget (account_id, counted_under);

-- What a budget has seen in one window. A window is part of the key, so nothing is ever reset.
create table budget_use (
  id bigint generated always as identity primary key,
  budget_id text not null,
  window_start timestamptz not null,
  -- Of an end user: `u:` and the name, or `h:` and its hash; `*` is shared by those beyond the most,
  -- whose row counts the others. Empty for calls that name none, and for all other budgets.
  subject text not null default '',
  held bigint not null default 0 check (held >= 0),
  spent numeric not null default 0 check (spent >= 0),
  subjects integer not null default 0,
  unique (budget_id, window_start, subject)
) with (fillfactor = 50);

-- The part of `spent` whose calls are archived.
create table archived_budget (
  use_id bigint primary key,
  spent numeric not null
);

alter table balance add column budgets integer not null default 0 check (budgets >= 0);
-- Pairs of budget_use.id and what the hold holds of it; null without a budget.
alter table hold add column counters bigint[];

-- Tags that every call of a key has, and tags of which a call must state one. Budgets for tags count
-- these alone: a caller cannot leave them away.
alter table api_key add column tags text[] not null default '{}';
alter table api_key add column required_tags text[] not null default '{}';

-- Something that people are told about. It is recorded in the transaction of its cause, once for each
-- `once`, for example once for a threshold of a budget in one window.
create table alert_event (
  id bigint generated always as identity primary key,
  kind text not null,
  account_id text not null,
  once text not null unique,
  subject jsonb not null,
  created_at timestamptz not null default now()
);
create index alert_event_by_account on alert_event (account_id, id);
