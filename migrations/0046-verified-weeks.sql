-- Weeks of calls that the audit has verified: later audits start from their sums. All of it is
-- derived from the books, so backups leave it out, and deleting it costs one longer audit.

-- A week (UTC, from Monday) by the time in the ids of its holds.
create table verified_week (
  week date primary key,
  -- Its holds have ids from the first of these, and below the second.
  start_id text not null,
  end_id text not null,
  -- The audit that verifies it; another may take over.
  run text not null,
  -- Null while it is being verified.
  verified_at timestamptz,
  -- Set when a call of the week was corrected or archived since: the next audit verifies it anew.
  changed_at timestamptz,
  -- Set when a full audit found other rows than those that were verified.
  altered_at timestamptz,
  -- No entry of the week has an id above this one that an audit could have seen.
  upto_id bigint,
  holds bigint,
  entries bigint,
  -- SHA-256 over its holds, calls and entries; see week_digest.
  digest bytea,
  check ((verified_at is null) = (digest is null))
);

-- What the entries of the week moved.
create table verified_sum (
  week date not null references verified_week on delete cascade,
  account_id text not null,
  currency text not null,
  source text not null,
  destination text not null,
  entries bigint not null,
  amount bigint not null,
  primary key (week, account_id, currency, source, destination)
);

-- Charges of a key under a spend limit.
create table verified_key (
  week date not null references verified_week on delete cascade,
  key_id text not null,
  limited bigint not null,
  primary key (week, key_id)
);

-- What the calls of the week used of budgets.
create table verified_budget (
  week date not null references verified_week on delete cascade,
  use_id bigint not null,
  spent numeric not null,
  primary key (week, use_id)
);

-- The last block of the sealed books that the audit has verified, with all before it.
create table verified_books (
  singleton boolean primary key default true check (singleton),
  block bigint not null,
  hash bytea not null
);
