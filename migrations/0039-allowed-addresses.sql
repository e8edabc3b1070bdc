-- Networks from which a key, and every key of an account, may be used; empty: from everywhere. The
-- version before knows neither.
alter table api_key add column allowed_ips text[] not null default '{}';
alter table account add column allowed_ips text[] not null default '{}';
