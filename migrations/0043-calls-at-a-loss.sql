-- Calls that cost more than they brought in: operators list them, and there should be few.
create index call_at_a_loss on call (created_at, request_id) where cost > charged;
