-- Calls that run when a limit of concurrent calls is set count towards it. They have no slots: slots
-- are written with the holds of calls that have such a limit.
create function count_running_calls() returns trigger
language plpgsql
set enable_seqscan = off
as $$
declare
  first text;
begin
  if tg_table_name = 'account' then
    insert into call_slot (subject, hold_id)
    select 'account:' || h.account_id, h.id
    from hold h where h.state = 'open' and h.task_id is null and h.account_id = new.id
    on conflict do nothing;
  elsif tg_table_name = 'api_key' then
    first := coalesce(new.counter_key_id, new.id);
    insert into call_slot (subject, hold_id)
    select 'key:' || first, h.id
    from hold h
    join api_key k on k.id = h.key_id and (k.id = first or k.counter_key_id = first)
    where h.state = 'open' and h.task_id is null
    on conflict do nothing;
  else
    insert into call_slot (subject, hold_id)
    select 'model:' || h.account_id || ':' || h.model, h.id
    from hold h where h.state = 'open' and h.task_id is null and h.model = new.id
    on conflict do nothing;
  end if;
  return null;
end $$;

create trigger account_counts_running_calls after update of limits on account
  for each row when (new.limits ? 'concurrent_calls' and new.limits is distinct from old.limits)
  execute function count_running_calls();
create trigger api_key_counts_running_calls after update of limits on api_key
  for each row when (new.limits ? 'concurrent_calls' and new.limits is distinct from old.limits)
  execute function count_running_calls();
create trigger model_counts_running_calls after update of limits on model
  for each row when (new.limits ? 'concurrent_calls' and new.limits is distinct from old.limits)
  execute function count_running_calls();
