-- Responses that a vendor makes in the background are tasks: their hold stays until they end.
alter table task drop constraint task_kind_check;
alter table task add constraint task_kind_check
  check (kind in ('video', 'minutes', 'erase', 'image', 'response'));
-- Of a background response: what its hold was taken for, as the pipeline quoted it.
alter table task add column quote jsonb;
-- UTF-8 bytes of its output that streams have delivered: owed also when no usage is ever stated.
alter table task add column output_bytes bigint not null default 0;
