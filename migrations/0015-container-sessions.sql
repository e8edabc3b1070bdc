-- Sessions of containers that vendors run for calls. A vendor bills each once, and calls that use the
-- container until its end are not charged for it.
create table container_session (
  channel_id text not null,
  container_id text not null,
  -- The call that pays. It has the session again if it settles again.
  request_id text not null,
  started_at timestamptz not null default now(),
  minutes integer not null check (minutes > 0),
  primary key (channel_id, container_id)
);
create index container_session_by_age on container_session (started_at);
