-- Notifications: one row for each event of an order, with a digest in place of the text.
--
-- Why: an owner of one unpaid order could name it in notifications about any number of made-up
-- payments. Each was stored with up to 64 KiB and made us ask the provider: four hundred of them
-- delayed a genuine one by 86 s.
--
-- Safe while an older version runs: it leaves the new columns empty, and its rows are handled as
-- before. The table is locked until the transaction ends: a month of notifications is read once for
-- the check, and the texts of the handled ones are removed. A notification that comes meanwhile
-- waits, or gets 503 after five seconds and comes again.

alter table payment_notices
  -- Empty in rows of older versions.
  add column order_id text,
  add column book_id int8,
  -- SHA-256 of the notification's bytes, in hexadecimal. The key of older rows has a half of it.
  add column digest text,
  -- When a worker last began to read the payment; a later notification needs another read.
  add column claimed_at timestamptz,
  -- How often a notification about this event was handled; each time the next one waits longer.
  add column handled int4 not null default 0,
  -- With the unique key this makes the database refuse a second row for an event of an order.
  add constraint payment_notices_are_one_per_event
    check (order_id is null or dedupe = event || ' ' || order_id);

-- For the number of a book's notifications that wait.
create index payment_notices_waiting on payment_notices (book_id) where done_at is null;

update payment_notices set body = '' where done_at is not null and body <> '';
