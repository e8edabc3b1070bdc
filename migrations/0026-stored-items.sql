-- Ids that vendors have given to parts of their answers: items of responses, containers, spoken
-- answers. Several accounts share one vendor account, so a request may name only what this gateway
-- gave to its account.
create table stored_item (
  account_id text not null,
  id text not null,
  channel_id text not null,
  -- Of the items of one answer the tokens count once.
  answer_id text not null,
  -- Output tokens of the answer, which are input again where its items are named. Null: unknown.
  tokens bigint,
  expires_at timestamptz not null,
  primary key (account_id, id)
);
create index stored_item_by_end on stored_item (expires_at);
