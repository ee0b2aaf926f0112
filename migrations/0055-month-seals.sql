-- The accountant's months: seals that keep the figures of a month, what the provider paid out, and
-- indexes by the time at which money moved.
--
-- orders.captured_kopecks: what the payer paid, where an operator credited a payment whose amount
-- differs from the price; null: the price. orders.income_kopecks: what reaches our account after
-- the provider's commission, as the provider reports it; null: it did not, or the order is older.
--
-- Safe while an older version runs: it leaves the new columns null. An index takes about a second
-- per million orders, in which new orders wait.

alter table orders add column captured_kopecks int8
  constraint orders_captures_are_not_negative check (captured_kopecks >= 0);
alter table orders add column income_kopecks int8
  constraint orders_incomes_are_not_negative check (income_kopecks >= 0);

create index orders_by_capture on orders (captured_at) where captured_at is not null;
create index refunds_by_end on refunds (ended_at) where ended_at is not null;

-- One row per sealed month, never changed. `figures` is JSON as text, because jsonb does not keep
-- the bytes that the digest is of. The act of the seal names the digest, and acts are chained.
create table month_seals (
  month text primary key
    constraint month_seals_are_of_a_month check (month ~ '^20[0-9]{2}-(0[1-9]|1[0-2])$'),
  time_zone text not null
    constraint month_seals_name_their_time_zone check (length(time_zone) between 1 and 64),
  sealed_at timestamptz not null default ledger_now(),
  sealed_by text not null
    constraint month_seals_name_who_sealed_them check (length(sealed_by) between 1 and 100),
  figures text not null
    constraint month_seals_are_short check (octet_length(figures) between 2 and 10000000),
  digest text not null
    constraint month_seals_match_their_digest
      check (digest = encode(sha256(convert_to(figures, 'UTF8')), 'hex'))
);

create or replace function month_seals_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'a sealed month is never changed or removed; corrections appear in a later month'
    using errcode = 'restrict_violation';
end $$;

create trigger month_seals_are_append_only
  before delete or update or truncate on month_seals
  for each statement execute function month_seals_refuse_change();
