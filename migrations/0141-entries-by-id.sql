-- The sealer and the audit read ranges of ids. Ids ascend, so an insert only touches the last page.
create index entry_by_id on entry (id);
