-- The digest of a stored result, as files have theirs: reading compares it, and finds what a disk or
-- a store has lost or changed. Null for what was stored before, of which only the size is known.
alter table asset add column sha256 bytea;
