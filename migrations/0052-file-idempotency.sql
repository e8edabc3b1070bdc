-- An upload that is repeated under the same Idempotency-Key within 24 hours makes no second file.
alter table file
  add column sha256 bytea,
  add column request_id text,
  add column idempotency_key text;
create unique index file_by_idempotency on file (account_id, idempotency_key)
  where idempotency_key is not null;
