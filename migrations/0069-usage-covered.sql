-- An account's figures lie scattered among those of all others, in the order of time: read from
-- the index alone they are one stretch. Only the rows of the last hours are ever written again.
alter table usage_part drop constraint usage_part_pkey,
  add primary key (account_id, part, name, hour)
  include (calls, errors, cancelled, charged, largest);
alter table latency_all drop constraint latency_all_pkey,
  add primary key (account_id, hour, bucket) include (calls);
alter table usage_hour drop constraint usage_hour_pkey,
  add primary key (account_id, hour, model, key_id, endpoint)
  include (calls, errors, cancelled, charged);
alter table latency_hour drop constraint latency_hour_pkey,
  add primary key (account_id, hour, model, bucket) include (calls);
