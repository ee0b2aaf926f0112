-- The triggers of mandates. The first two refuse what must not happen to a mandate or be charged
-- without one. The other three keep the tables of the version before in step, for as long as that
-- version may run on the same database; the next version drops them with those tables.

-- A mandate is given once and ended once; nothing else about it changes.
create or replace function mandates_refuse_change() returns trigger language plpgsql as $$
begin
  if old.ended_at is null and new.ended_at is not null
    and to_jsonb(old) - array['ended_at', 'ended_why']
      = to_jsonb(new) - array['ended_at', 'ended_why'] then
    return new;
  end if;
  raise exception 'a mandate is never changed, only ended, and only once'
    using errcode = 'integrity_constraint_violation';
end $$;

-- A top-up is created, and later marked as sent, only under a living mandate for its pack, price
-- and credits, and not before the moment that its owner was told. The mandate stays locked until
-- the transaction ends, so it cannot end in between. Orders without a mandate are those of
-- versions before migration 0020, which are never sent again.
create or replace function orders_refuse_charge_without_mandate() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  if not new.is_top_up or new.consent_id is null
    or (tg_op = 'UPDATE' and new.posted_at is not distinct from old.posted_at) then
    return new;
  end if;
  perform from mandates m
  where m.id = new.consent_id and m.ended_at is null and m.book_id = new.book_id
    and (m.pack_id, m.price_kopecks, m.credits) = (new.pack_id, new.price_kopecks, new.credits)
    and (tg_op = 'INSERT' or new.charge_after is null or new.charge_after <= ledger_now())
  for share;
  if not found then
    raise exception 'a top-up needs a living mandate for its pack, price and credits'
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;

-- Writes what this version does with a mandate into the tables that the version before reads.
create or replace function mandates_write_old_form() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    -- The version before knows neither of the three reasons.
    update top_ups set is_on = false, stopped_at = new.ended_at,
      stopped_why = case when new.ended_why in ('closed', 'replaced', 'card_replaced')
        then 'owner' else new.ended_why end
    where consent_id = new.id and is_on;
    return null;
  end if;
  insert into top_up_consents (id, book_id, version, address, method_title, pack_id,
    price_kopecks, credits, threshold, ceiling_kopecks, given_at)
  overriding system value
  values (new.id, new.book_id, new.version, new.address, new.method_title, new.pack_id,
    new.price_kopecks, new.credits, new.threshold, new.month_ceiling_kopecks, new.given_at)
  on conflict (id) do nothing;
  insert into top_ups (book_id, consent_id, is_on) values (new.book_id, new.id, true)
  on conflict (book_id) do update
  set consent_id = excluded.consent_id, is_on = true, stopped_why = null, stopped_at = null,
    ceiling_told = null
  where top_ups.consent_id <> excluded.consent_id;
  return null;
end $$;

-- The version before gave or ended an agreement: gives or ends the mandate.
create or replace function top_ups_write_mandate() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not new.is_on then
    update mandates set ended_at = new.stopped_at, ended_why = new.stopped_why
    where id = new.consent_id and ended_at is null;
  elsif not exists (select from mandates where id = new.consent_id) then
    update mandates set ended_at = ledger_now(), ended_why = 'replaced'
    where book_id = new.book_id and ended_at is null;
    insert into mandates (id, book_id, method_title, method_saved_at, pack_id, price_kopecks,
      credits, threshold, day_ceiling_kopecks, month_ceiling_kopecks, version, address, given_at)
    select c.id, c.book_id, c.method_title, m.saved_at, c.pack_id, c.price_kopecks, c.credits,
      c.threshold, c.ceiling_kopecks, c.ceiling_kopecks, c.version, c.address, c.given_at
    from top_up_consents c
    left join saved_methods m on m.book_id = c.book_id and m.saved_at <= c.given_at
    where c.id = new.consent_id;
  end if;
  return null;
end $$;

-- The version before erased an owner's consents, which contain IP addresses.
create or replace function consents_erase_mandate() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from mandates where id = old.id;
  return null;
end $$;
