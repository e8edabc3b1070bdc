-- Operators take a channel out of service for a while. A paused channel gets no new calls and no new
-- tasks; its open tasks go on. A gateway of the version before ignores the pause.
alter table channel add column paused_at timestamptz;
-- Every gateway ends its cooldown of the channel when it sees a newer time.
alter table channel add column woken_at timestamptz;
