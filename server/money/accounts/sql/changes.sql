-- revision 2

-- A rotation joins the new key to the counter of the old one.
create or replace function join_spend_counter() returns trigger language plpgsql as $$
begin
  update api_key set counter_key_id = coalesce(new.counter_key_id, new.id)
  where id = new.replaced_by and account_id = new.account_id and counter_key_id is null;
  return null;
end $$;

-- Every gateway drops its cached copies of the account and of its keys.
create or replace function notify_account() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_account', coalesce(new.id, old.id));
  return null;
end $$;

create or replace function notify_key() returns trigger language plpgsql as $$
begin
  perform pg_notify('tributary_account', coalesce(new.account_id, old.account_id));
  return null;
end $$;
