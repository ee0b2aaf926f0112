-- By which agreement a top-up is bought, and when its order was last sent to the provider.
--
-- Why: an order that waited was sent under a newer agreement, with another pack, price or card. And
-- an order whose outcome at the provider was unknown was canceled with its agreement: it no longer
-- kept the next one from being bought, and one crossing was charged twice.
--
-- Safe while an older version runs: both columns may be null, which takes an instant. An order of
-- that version names no agreement, so it counts as sent and is only looked for at the provider.
-- Until the last worker of the older version is gone, it sends and cancels by its own rules.

alter table orders
  -- Null for purchases, and for top-ups of before this migration. No foreign key: agreements are
  -- deleted with their owner, and orders stay.
  add column consent_id int8,
  -- Of a top-up, written before its bytes leave; null beside an agreement: it was never sent.
  add column posted_at timestamptz;
