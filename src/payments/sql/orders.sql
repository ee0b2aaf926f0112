-- What an order says of its price and pack stays as it was written.

-- What was sold, to whom, for how much and by which provider never changes, and neither does the
-- payment or the entry once there is one. Not even a bug can credit another order's money.
create or replace function orders_refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE'
    and (old.id, old.book_id, old.attempt, old.provider, old.method, old.pack_id, old.credits,
      old.price_kopecks, old.catalogue_version, old.created_at)
      = (new.id, new.book_id, new.attempt, new.provider, new.method, new.pack_id, new.credits,
      new.price_kopecks, new.catalogue_version, new.created_at)
    and (old.provider_payment_id is null or old.provider_payment_id = new.provider_payment_id)
    and (old.credited_at is null
      or (old.credited_at, old.lot, old.credited_by)
        is not distinct from (new.credited_at, new.lot, new.credited_by)) then
    return new;
  end if;
  raise exception 'an order keeps what was sold, its payment and its entry'
    using errcode = 'integrity_constraint_violation';
end $$;
