-- Whether `due_at` is the end of somebody's lease: a vendor's report hurries a task that waits, and
-- does not take it from whoever is looking at it.
alter table task add column is_claimed boolean not null default false;
