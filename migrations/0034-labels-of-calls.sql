-- What a call is counted under besides its account, key and model: {"tags": ["a"], "end_user": "u1",
-- "base_version": 12}, each member where there is one; null without any. The hold pins the labels,
-- and its record has the same.
alter table hold add column labels jsonb;
alter table call add column labels jsonb;
