-- revision 1

-- Guards the tables of the books, of prices, of the audit log and of archives.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  -- archive_remove has added the sums of these rows in the same transaction.
  if tg_table_name = 'entry' and tg_op = 'DELETE'
    and current_setting('tributary.archiving', true) = pg_current_xact_id()::text then
    return null;
  end if;
  raise exception '% is append-only: post a correcting entry instead', tg_table_name
    using errcode = 'insufficient_privilege';
end $$;
