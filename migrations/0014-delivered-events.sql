-- Up to which of its events the output of a background response was delivered: a caller may read
-- them again, and does not owe them twice. -1: not known.
alter table task add column output_sequence integer not null default -1;
