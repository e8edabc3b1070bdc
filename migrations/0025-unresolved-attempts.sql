-- Attempts that may have a task at the upstream which no attempt has the id of. A lost submission is
-- adopted from the upstream's list only if there is no other of them around that time.
create index task_attempt_unresolved on task_attempt (channel_id, upstream_model, sent_at)
  where state in ('sending', 'unknown', 'given_up') or (state = 'refused' and status >= 500 and status <> 503);
