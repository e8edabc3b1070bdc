-- Where a process keeps files: the address of an object store, or the id of a folder. Processes that
-- live at the same time and keep them in different places cannot serve the files of each other.
-- A gateway of the version before leaves it null.
alter table owner add column storage text;
