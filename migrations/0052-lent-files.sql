-- A lent file is the upload of a call, public while the call lasts so that a vendor can fetch it. It
-- is no file of the account's: neither listed nor counted as stored.
alter table file add column lent boolean not null default false;
