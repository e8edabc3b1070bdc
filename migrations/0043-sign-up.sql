-- Signing up: whoever confirms an address becomes a customer, where the operator allows it.

alter table console_link drop constraint console_link_kind_check;
alter table console_link add constraint console_link_kind_check
  check (kind in ('setup', 'invitation', 'reset', 'sign_up'));

-- The terms that were accepted before the browser left for its provider.
alter table provider_step add column terms text;

create table sign_up (
  id text primary key,
  person_id text references person on delete set null,
  -- Opened by the sign-up, with the person as its owner.
  account_id text not null references account,
  email text not null,
  -- The address without what its owner may vary: a mailbox gets the grant once.
  mailbox text not null,
  -- The address, or the /64 of IPv6, from which it came.
  network text not null,
  -- Who confirmed the address; null for a mail with a link.
  provider_id text,
  -- The terms that were accepted; null where none were set.
  terms text,
  granted bigint not null default 0 check (granted >= 0),
  currency text not null,
  stopped_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index sign_up_grant on sign_up (mailbox) where granted > 0;
create index sign_up_by_age on sign_up (created_at, id);
create index sign_up_by_network on sign_up (network, created_at);
