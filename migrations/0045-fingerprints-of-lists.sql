-- What the compiled prices of a list were made from, with the time of the list's last change, so that
-- they are worked out once for the same sources. Gateways of the version before leave it alone, and
-- so it no longer fits when they have changed the sources or the list.
alter table price_list add column fingerprint text;
