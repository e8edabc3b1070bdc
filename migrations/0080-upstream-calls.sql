-- What vendors report of a submission by themselves, at the address that it named. None of it is
-- believed: it only says by which id to ask, and when.
alter table task_attempt
  -- The id that the vendor named while nobody knew what had become of the submission.
  add column told_id text,
  add column told_count integer not null default 0,
  -- When the latest report made the task due, which may still be to come.
  add column told_at timestamptz;
