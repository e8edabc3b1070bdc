-- Calls that are recorded after this time was written end at it or later, so that figures can count
-- all that ended before it; null before the first count.
alter table usage_watermark add column final_until timestamptz;
