-- Figures of calls with tags, as usage_hour has those of all calls: a row for each combination in a
-- quarter of an hour, so that they never grow faster than paid calls. End users are too many for
-- such rows: their figures are read from the calls.
create table usage_tags (
  account_id text not null,
  hour timestamptz not null,
  -- All tags of a call, "a, b", so that groups never overlap.
  tags text not null,
  model text not null,
  key_id text not null,
  endpoint text not null,
  calls bigint not null,
  errors bigint not null,
  cancelled bigint not null,
  charged bigint not null,
  primary key (account_id, hour, tags, model, key_id, endpoint)
    include (calls, errors, cancelled, charged)
) with (fillfactor = 70);

-- Calls that ended before this time are in it; null before the first count.
alter table usage_watermark add column tags_until timestamptz;
