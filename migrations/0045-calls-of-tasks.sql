-- Tasks whose work is one call, answered with the work itself: a worker makes it. Their request is
-- kept only until they end, because it may be made by another process than the one that took it.
create table task_body (
  task_id text primary key,
  body bytea not null
);

-- answered: the upstream's answer was the work, so it has no id of its own there.
alter table task_attempt drop constraint task_attempt_state_check;
alter table task_attempt add constraint task_attempt_state_check check (
  state in ('prepared', 'sending', 'accepted', 'answered', 'refused', 'unknown', 'given_up'));
