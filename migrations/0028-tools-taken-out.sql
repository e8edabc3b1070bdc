-- Answers to requests that offered a tool for which their model has no price, so that the gateway
-- took it out. One row per model and kind of tool; the kinds are a fixed list.
create table tool_taken_out (
  model_id text not null,
  tool text not null,
  -- The unit whose price sells the tool; null if no price can.
  unit text,
  answers bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (model_id, tool)
);
