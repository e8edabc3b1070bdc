-- Deliveries that ended long ago are found without reading the others.
create index delivery_finished on delivery (finished_at) where finished_at is not null;
