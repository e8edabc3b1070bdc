-- Each delivery is sent again at most once, however often that is asked: the row that repeats it
-- names it. A chain of redeliveries goes on from its newest row.

-- The delivery that this one repeats; redelivery_of is the first of the chain.
alter table delivery add column repeats text;
create unique index delivery_repeats on delivery (repeats) where repeats is not null;
-- What was given up, by time: lists, metrics, and sending all of an hour again.
create index delivery_dropped on delivery (created_at, id) where state = 'dropped';
