-- Tokens of companies' directories: who issues them, and a row for each person or program in them.

create table token_issuer (
  id text primary key,
  status text not null default 'active' check (status in ('active', 'retired')),
  source text not null default '',
  definition jsonb not null,
  updated_at timestamptz not null default now()
);

-- A subject of an issuer in an account is a key without a text: its hash is of these three. Holds,
-- limits, budgets and records know no difference, and the version before looks no such key up.
alter table api_key add column issuer text;
alter table api_key add column subject text;
alter table api_key drop constraint api_key_purpose_check;
alter table api_key add constraint api_key_purpose_check
  check (purpose in ('calls', 'playground', 'subject'));
alter table api_key add constraint api_key_subject_check
  check ((purpose = 'subject') = (subject is not null) and (issuer is null) = (subject is null));
create index api_key_by_subject on api_key (issuer, subject) where issuer is not null;
