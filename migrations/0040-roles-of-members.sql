-- The roles of members, and keys that belong to a person.

-- What a member may do who is no owner. The version before knows `role` alone, in which all of them
-- are members; those of before are developers, who may do all that members could.
alter table membership add column member_role text not null default 'developer'
  check (member_role in ('billing', 'developer', 'viewer'));
alter table console_link add column member_role text not null default 'developer'
  check (member_role in ('billing', 'developer', 'viewer'));

-- The person whose key it is: it ends with the membership. Null for a key of the account, as all of
-- before are, whoever created them.
alter table api_key add column person_id text;
create index api_key_by_person on api_key (person_id) where person_id is not null;
