-- How long a stored answer is, with all that it was given to: a later answer that builds on it has
-- these tokens as input again, and they are in no request. Null where the vendor did not state
-- them, and for answers from before this column.
alter table stored_answer add column tokens bigint;
