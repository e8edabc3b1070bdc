-- The person who created a key in the console, so that usage can be read by member. Null for keys of
-- the command line, of files and of before; the version before leaves it empty.
alter table api_key add column created_by text;
create index api_key_by_creator on api_key (account_id, created_by) where created_by is not null;
