-- Every call writes one hold, three entries and one record; each index on them is paid for every
-- time. What nothing looks up by is dropped: a hold's id is made from its request's id, so
-- either finds the other, and entries are found by their posting.
drop index hold_by_request;
drop index entry_by_account;
alter table entry drop constraint entry_pkey;
alter table entry drop constraint entry_posting_step_key;
alter table entry add primary key (posting, step);
alter table call drop constraint call_hold_id_key;
