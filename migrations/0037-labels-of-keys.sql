-- Whether callers of a key may add tags to its own, and whether its answers state their charge. The
-- version before knows neither.
alter table api_key add column allow_tags boolean not null default false;
alter table api_key add column cost_in_answers boolean not null default false;
