-- Archives of weeks, beside those of months. `month` is the first day of either.
alter table archive
  -- The day after a week; null for a month.
  add column until date check (until = month + 7);
