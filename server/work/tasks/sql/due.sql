-- revision 1

-- Wakes the workers for a task that is due before their next claim.
create or replace function notify_due_task() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_task', new.channel_id);
  return null;
end $$;
