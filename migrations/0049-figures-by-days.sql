-- Figures of whole days of UTC, which add_up_day adds up from those of quarters once a day is over.
-- Sums over a long period read these days, and quarters only at its two edges. Filling them is the
-- counting job's work, a few accounts at a time; nothing is filled here.
create table usage_day (
  account_id text not null,
  day timestamptz not null,
  model text not null,
  key_id text not null,
  endpoint text not null,
  calls bigint not null,
  errors bigint not null,
  cancelled bigint not null,
  charged bigint not null,
  upstream_cost bigint not null,
  uncosted bigint not null,
  primary key (account_id, day, model, key_id, endpoint)
    include (calls, errors, cancelled, charged)
);

create table latency_day (
  account_id text not null,
  day timestamptz not null,
  model text not null,
  bucket smallint not null,
  calls bigint not null,
  primary key (account_id, day, model, bucket) include (calls)
);

create table tags_day (
  account_id text not null,
  day timestamptz not null,
  tags text not null,
  model text not null,
  key_id text not null,
  endpoint text not null,
  calls bigint not null,
  errors bigint not null,
  cancelled bigint not null,
  charged bigint not null,
  primary key (account_id, day, tags, model, key_id, endpoint)
    include (calls, errors, cancelled, charged)
);

create table channel_day (
  day timestamptz not null,
  channel text not null,
  model text not null,
  currency text not null,
  calls bigint not null,
  errors bigint not null,
  charged bigint not null,
  upstream_cost bigint not null,
  uncosted bigint not null,
  primary key (day, channel, model, currency)
);

alter table usage_watermark
  -- From this time on, every count adds to days that are added up.
  add column days_since timestamptz,
  -- Days before this one are added up for all accounts; null before the first.
  add column days_until timestamptz,
  -- Of the day that begins then, the accounts up to this one.
  add column days_account text not null default '';
