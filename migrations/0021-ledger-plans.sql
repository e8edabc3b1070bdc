-- The ledger's functions find their rows by key, always. Their plans are made while the tables are
-- small and kept by each connection: left to itself the planner then reads whole tables, and a
-- settlement's cost grows with every call ever made until statistics happen to be renewed.
alter function ledger_hold(jsonb) set enable_seqscan = off;
alter function ledger_hold(jsonb) set enable_hashjoin = off;
alter function ledger_hold(jsonb) set enable_mergejoin = off;
alter function ledger_hold(jsonb) set plan_cache_mode = force_generic_plan;
alter function ledger_settle(jsonb) set enable_seqscan = off;
alter function ledger_settle(jsonb) set enable_hashjoin = off;
alter function ledger_settle(jsonb) set enable_mergejoin = off;
alter function ledger_settle(jsonb) set plan_cache_mode = force_generic_plan;
