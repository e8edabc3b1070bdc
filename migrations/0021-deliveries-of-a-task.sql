-- The timeline of a task shows its redeliveries too, which the unique index leaves out.
create index delivery_of_task on delivery (task_id) where task_id is not null;
