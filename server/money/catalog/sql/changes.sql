-- revision 1

create or replace function notify_catalog() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_catalog', new.revision::text);
  return null;
end $$;
