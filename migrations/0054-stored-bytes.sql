-- What an account keeps is summed up for every upload and copy: from these indexes alone.
create index asset_bytes on asset (account_id) include (bytes) where bytes is not null;
create index file_bytes on file (account_id) include (bytes, expires_at);
