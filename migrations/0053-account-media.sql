-- What an operator may set for the files and media of one account.
alter table account
  -- How much it may keep; null for the gateway's own limit.
  add column stored_bytes_max bigint check (stored_bytes_max >= 0),
  -- Whether the gallery keeps the prompts of its images.
  add column keeps_prompts boolean not null default true;
