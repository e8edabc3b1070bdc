-- Which catalog file a channel or model came from: what is absent from that file is retired when
-- the file is applied again, and what other files brought is left alone.

alter table channel add column source text not null default '';
alter table model add column source text not null default '';
