-- The vendor's answer to the creation was lost, so the caller was answered with our own id. Whoever
-- shows the task or announces its end keeps to that id, also when the vendor's is found later.
alter table task add column answer_lost boolean not null default false;
