-- What operators list over all accounts, the newest first. Rows come in about this order, so that
-- each index grows at its end and costs little.
create index call_by_age on call (created_at, request_id);
create index task_by_age on task (created_at, id);
create index delivery_by_age on delivery (created_at, id);
create index orphan_cost_by_age on orphan_cost (created_at, attempt_id);
