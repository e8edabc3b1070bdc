-- Answers that a vendor keeps under an id of its own: whose they are and where they lie. Several
-- accounts share one vendor account, so the id alone must open nothing.
create table stored_answer (
  id text primary key,
  account_id text not null,
  channel_id text not null,
  created_at timestamptz not null default now()
);
create index stored_answer_by_account on stored_answer (account_id, created_at desc);
