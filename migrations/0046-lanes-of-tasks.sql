-- Tasks wait by channel and kind: looks take a moment, calls take minutes, and neither may stand in
-- the other's way. Calls are taken from the accounts in turn, so each account's first is at hand.
create index task_due_by_kind on task (channel_id, kind, due_at) where due_at is not null;
create index task_due_in_turn on task (channel_id, kind, account_id, due_at)
  where due_at is not null;
drop index task_due;
