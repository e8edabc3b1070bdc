-- Functions are defined in files beside their callers (`sql/` in the folders of the server), not in
-- migrations: one row for each file that was applied last. A file is applied again when it changes,
-- and never replaced by one of a lower revision.
create table function_file (
  name text primary key,
  revision integer not null check (revision > 0),
  sha256 text not null,
  applied_at timestamptz not null default now()
);
