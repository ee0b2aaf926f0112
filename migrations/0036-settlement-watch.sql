-- The settlement watch: what the sweep has proven, which shop an order belongs to, and the
-- differences that the checks find between the provider, the orders and the ledger's postings.
--
-- Why: the sweep once read an empty window on every new installation, and every sign was green.
-- Each check below can tell that another one is blind.
--
-- Safe while an older version runs: it inserts orders without a shop, which belong to the earliest
-- configured shop, and it finds its row of payment_sweeps by the provider alone. Orders are locked
-- for a moment: their index is empty, and reading a million of them takes less than a second.

-- The account at the provider that the payment was created in; null: before this migration.
alter table orders add column shop text;
-- When the provider captured a payment that could not be credited at once.
alter table orders add column paid_at timestamptz;
create index orders_paid_uncredited on orders (paid_at)
  where paid_at is not null and credited_at is null;

alter table payment_sweeps add column shop text not null default '';
-- The start of the last complete sweep: a payment captured well before it must have been seen.
alter table payment_sweeps add column began_at timestamptz;
-- The start of the last sweep that read 25 hours.
alter table payment_sweeps add column wide_at timestamptz;
-- When another trigger credited a payment that the sweep should have credited.
alter table payment_sweeps add column missed_at timestamptz;
-- contract: the older version names no key in its statements, and creates no second row.
alter table payment_sweeps drop constraint payment_sweeps_pkey;
alter table payment_sweeps add primary key (provider, shop);

-- What a check found and what still holds; cleared_at is null until a later check finds it gone.
create table payment_findings (
  id int8 generated always as identity primary key,
  rule text not null
    constraint payment_findings_name_a_rule check (rule ~ '^[a-z_]{1,40}$'),
  -- The reference of a posting, an order, a payment, a refund, or a watermark.
  subject text not null
    constraint payment_findings_subjects_are_short check (length(subject) between 1 and 200),
  provider text,
  shop text,
  detail text not null
    constraint payment_findings_are_short check (length(detail) <= 1000),
  found_at timestamptz not null default ledger_now(),
  seen_at timestamptz not null default ledger_now(),
  cleared_at timestamptz
);
create unique index payment_findings_are_open_once on payment_findings (rule, subject)
  where cleared_at is null;
create index payment_findings_by_time on payment_findings (found_at);

-- How far each check has come: a time of the data (mark), and when it last ended without an error.
create table payment_checks (
  name text primary key
    constraint payment_checks_names_are_short check (length(name) between 1 and 100),
  mark timestamptz not null,
  done_at timestamptz not null default ledger_now()
);

-- As src/payments/sql/orders.sql: an order keeps its shop too.
create or replace function orders_refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE'
    and (old.id, old.book_id, old.attempt, old.provider, old.method, old.pack_id, old.credits,
      old.price_kopecks, old.catalogue_version, old.created_at)
      = (new.id, new.book_id, new.attempt, new.provider, new.method, new.pack_id, new.credits,
      new.price_kopecks, new.catalogue_version, new.created_at)
    and old.shop is not distinct from new.shop
    and (old.provider_payment_id is null or old.provider_payment_id = new.provider_payment_id)
    and (old.credited_at is null
      or (old.credited_at, old.lot, old.credited_by)
        is not distinct from (new.credited_at, new.lot, new.credited_by)) then
    return new;
  end if;
  raise exception 'an order keeps what was sold, its payment and its entry'
    using errcode = 'integrity_constraint_violation';
end $$;
