-- revision 1

-- Takes a call back out of the figures, where it has been counted. Its record then moves to the
-- present and is counted anew. The caller holds the watermark.
create or replace function uncount_call(counted call) returns void
language plpgsql as $$
declare
  its_hour timestamptz := usage_slot(counted.created_at);
  error_count bigint := (counted.status in ('failed', 'lost'))::int;
  cancelled_count bigint := (counted.status = 'cancelled')::int;
  known_cost bigint := coalesce(counted.upstream_cost, 0);
  without_cost bigint := case when counted.upstream_cost is null then counted.charged else 0 end;
  has_day boolean := (select is_added_up(counted.created_at, counted.account_id, days_until,
    days_account) from usage_watermark);
begin
  -- Counted before this migration: its figures are in the row of its hour.
  if not exists (select from usage_hour where account_id = counted.account_id and hour = its_hour
    and model = counted.model and key_id = counted.key_id and endpoint = counted.endpoint
    and calls > 0)
  then
    its_hour := date_trunc('hour', counted.created_at, 'UTC');
  end if;
  update usage_hour set calls = calls - 1, errors = errors - error_count,
    cancelled = cancelled - cancelled_count, charged = charged - counted.charged,
    upstream_cost = upstream_cost - known_cost, uncosted = uncosted - without_cost
  where account_id = counted.account_id and hour = its_hour and model = counted.model
    and key_id = counted.key_id and endpoint = counted.endpoint;
  if has_day then
    update usage_day set calls = calls - 1, errors = errors - error_count,
      cancelled = cancelled - cancelled_count, charged = charged - counted.charged,
      upstream_cost = upstream_cost - known_cost, uncosted = uncosted - without_cost
    where account_id = counted.account_id and day = usage_day_of(counted.created_at)
      and model = counted.model and key_id = counted.key_id and endpoint = counted.endpoint;
  end if;
  update usage_part set calls = calls - 1, errors = errors - error_count,
    cancelled = cancelled - cancelled_count, charged = charged - counted.charged
  where account_id = counted.account_id and hour = its_hour
    and (part, name) in (('all', ''), ('model', counted.model), ('key', counted.key_id),
      ('endpoint', counted.endpoint));
  update channel_hour set calls = calls - 1, errors = errors - error_count,
    charged = charged - counted.charged, upstream_cost = upstream_cost - known_cost,
    uncosted = uncosted - without_cost
  where hour = its_hour and channel = coalesce(counted.attempts -> -1 ->> 'channel', '')
    and model = counted.model and currency = counted.currency;
  update channel_day set calls = calls - 1, errors = errors - error_count,
    charged = charged - counted.charged, upstream_cost = upstream_cost - known_cost,
    uncosted = uncosted - without_cost
  where day = usage_day_of(counted.created_at)
    and channel = coalesce(counted.attempts -> -1 ->> 'channel', '')
    and model = counted.model and currency = counted.currency
    and day < (select days_until from usage_watermark);
  update key_use set calls = calls - 1, charged = charged - counted.charged
  where key_id = counted.key_id and account_id = counted.account_id;
  if counted.status = 'succeeded' and counted.task_id is null then
    update latency_hour set calls = calls - 1
    where account_id = counted.account_id and hour = its_hour and model = counted.model
      and bucket = latency_bucket(counted.created_at, counted.finished_at);
    update latency_all set calls = calls - 1
    where account_id = counted.account_id and hour = its_hour
      and bucket = latency_bucket(counted.created_at, counted.finished_at);
    if has_day then
      update latency_day set calls = calls - 1
      where account_id = counted.account_id and day = usage_day_of(counted.created_at)
        and model = counted.model
        and bucket = latency_bucket(counted.created_at, counted.finished_at);
    end if;
  end if;
  if counted.finished_at < (select tags_until from usage_watermark) then
    update usage_tags set calls = calls - 1, errors = errors - error_count,
      cancelled = cancelled - cancelled_count, charged = charged - counted.charged
    where account_id = counted.account_id and hour = usage_slot(counted.created_at)
      and tags = tag_set(counted.labels) and model = counted.model
      and key_id = counted.key_id and endpoint = counted.endpoint;
    if has_day then
      update tags_day set calls = calls - 1, errors = errors - error_count,
        cancelled = cancelled - cancelled_count, charged = charged - counted.charged
      where account_id = counted.account_id and day = usage_day_of(counted.created_at)
        and tags = tag_set(counted.labels) and model = counted.model
        and key_id = counted.key_id and endpoint = counted.endpoint;
    end if;
  end if;
end $$;
