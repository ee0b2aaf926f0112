-- The trigger that refuses to change what an order sold, or which payment paid for it.

-- The book, pack, price, provider and shop of an order never change, and neither do its payment and
-- its ledger entry once they are set. So even a bug cannot credit one order with another's payment.
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
