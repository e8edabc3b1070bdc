-- Recordings that a worker converts before their task is submitted. The request is in task_body. A
-- row goes with the commit before the submission, so a kill before it converts the recording again.
create table task_conversion (
  task_id text primary key,
  account_id text not null,
  -- A claimed conversion's lease ends here.
  due_at timestamptz not null default now(),
  -- Claims so far: what fails again and again, or kills its process, is given up.
  attempts integer not null default 0
);
create index task_conversion_due on task_conversion (due_at);

-- What was published for a task is removed at its end, by the task's request.
create index file_of_request on file (request_id) where published;
