-- The due deliveries of one account to one host: accounts that share a receiver take turns.
create index delivery_due_by_account on delivery (host, account_id, due_at)
  where state = 'pending' and lease_until is null;
