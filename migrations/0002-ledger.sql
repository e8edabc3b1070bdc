-- The ledger: balances, entries, holds, credits, and the leases of the processes that serve calls.

-- A cache of the entries, one row per account; `audit` recomputes it.
create table balance (
  account_id text primary key references account,
  currency text not null,
  available bigint not null default 0 check (available >= 0),
  held bigint not null default 0 check (held >= 0),
  debt bigint not null default 0 check (debt >= 0)
) with (fillfactor = 50);

-- Spend of a key with a spend limit; kept only for such keys.
create table key_spend (
  key_id text primary key references api_key,
  held bigint not null default 0 check (held >= 0),
  spent bigint not null default 0 check (spent >= 0)
) with (fillfactor = 50);

-- Append-only double entry: an amount moves from one ledger account to another, so every row
-- balances by construction. `available`, `held` and `debt` belong to the customer's account,
-- the others to the house. Every call writes up to three: an index here is paid for each time.
create table entry (
  id bigint generated always as identity,
  posting text not null,
  step text not null check (step in ('hold', 'charge', 'return', 'overrun', 'debt', 'credit',
    'repay', 'debit', 'forgive', 'correction', 'correction_debt', 'correction_return')),
  account_id text not null,
  currency text not null,
  source text not null check (source in ('available', 'held', 'debt', 'top_up', 'promotion',
    'adjustment', 'write_off', 'revenue')),
  destination text not null check (destination in ('available', 'held', 'debt', 'revenue',
    'adjustment')),
  amount bigint not null check (amount > 0),
  at timestamptz not null default now(),
  check (source <> destination),
  -- Each step of a posting happens at most once.
  primary key (posting, step)
);
-- The sealer and the audit read ranges of ids. Ids ascend, so an insert only touches the last page.
create index entry_by_id on entry (id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: post a correcting entry instead', tg_table_name
    using errcode = 'insufficient_privilege';
end $$;
create trigger entry_append_only before update or delete or truncate on entry
  for each statement execute function refuse_change();

-- Money held for one call or task. Exactly one of settled and released, once.
create table hold (
  id text primary key,
  request_id text not null,
  account_id text not null,
  key_id text not null,
  -- The process that serves the call; null when a task row owns the hold.
  owner_id text,
  task_id text,
  endpoint text not null,
  model text not null,
  price_version bigint,
  amount bigint not null check (amount >= 0),
  -- The quantities and facts the amount was computed from.
  estimate jsonb not null default '{}',
  -- True when key_spend moved with this hold.
  spend_limited boolean not null default false,
  state text not null default 'open' check (state in ('open', 'settled', 'released')),
  -- {"charge": "nanos", "lines": […]}: the charge that would be owed if the process died now.
  checkpoint jsonb,
  created_at timestamptz not null default now(),
  closed_at timestamptz
) with (fillfactor = 80);
-- For the sweeper alone: every hold passes through `open`, which fills a partial index with dead
-- entries, and the planner likes it for look-ups by id.
create index hold_open_by_owner on hold (owner_id) where state = 'open';

-- Money put in or taken out by people: top-ups, promotions, adjustments. Also the audit trail.
create table credit (
  id text primary key,
  account_id text not null references account,
  kind text not null check (kind in ('top_up', 'promotion', 'adjustment', 'forgiveness')),
  -- Negative only for an adjustment that takes money back.
  amount bigint not null check (amount <> 0),
  reason text not null check (length(reason) between 1 and 500),
  actor text not null,
  -- A payment provider's event id: the same event credits once.
  event_id text unique,
  created_at timestamptz not null default now()
);
create index credit_by_account on credit (account_id, created_at);
create trigger credit_append_only before update or delete or truncate on credit
  for each statement execute function refuse_change();

-- A gateway process with a lease; when the lease runs out, others close its calls. While the
-- database is away nobody can renew, so silence counts only where the process that judges renewed
-- its own lease without a gap during all of that silence.
create table owner (
  id text primary key,
  address text not null default '',
  started_at timestamptz not null default now(),
  lease_until timestamptz not null,
  -- Since when this process has renewed without a gap.
  steady_since timestamptz not null default clock_timestamp(),
  renewals bigint not null default 0,
  -- Set when it ended by itself or is known to be gone: its calls are closed at once.
  ended_at timestamptz
);
