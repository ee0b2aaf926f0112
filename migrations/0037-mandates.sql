-- Mandates: each consent to automatic top-ups as one row with its terms, its start and its end.
--
-- Why: a consent and whether it is in force stood in two tables. The second kept only the newest
-- end, so nobody could see which consent a past charge had and why an earlier consent had ended;
-- a replaced card was charged under a consent to another card; and a consent limited a month but
-- not a day. Now the database itself refuses a charge without a living mandate.
--
-- Safe while an older version runs: triggers copy what either version writes to the other's
-- tables, so an end by one is an end for both. The tables are small and locked for a moment; on
-- orders the column and the trigger take an instant.

-- First, because a payment locks its order before its book: the new tables refer to books.
alter table orders
  -- Of a top-up that was announced to its owner: it is not sent before this moment.
  add column charge_after timestamptz;

create table mandates (
  -- The same numbers as in top_up_consents, which orders.consent_id already names.
  id int8 primary key default nextval('top_up_consents_id_seq'),
  book_id int8 not null references books (id),
  -- The card, as its owner knows it, and when it was saved, which tells it from the book's later
  -- cards. Null: the card was replaced before this migration.
  method_title text not null,
  method_saved_at timestamptz,
  pack_id text not null,
  price_kopecks int8 not null
    constraint mandates_are_about_a_price check (price_kopecks > 0),
  -- Microcredits. Null in consents of before migration 0019, under which nothing is bought.
  credits int8 constraint mandates_are_about_credits check (credits > 0),
  threshold int8 not null constraint mandates_have_a_threshold check (threshold > 0),
  -- The most that top-ups may cost in a day and in a calendar month, both in UTC.
  day_ceiling_kopecks int8 not null,
  month_ceiling_kopecks int8 not null,
  -- The version of the text, and the IP address that agreed.
  version text not null
    constraint mandates_name_their_text check (length(version) between 1 and 40),
  address text not null constraint mandates_addresses_are_short check (length(address) <= 100),
  given_at timestamptz not null default ledger_now(),
  ended_at timestamptz,
  ended_why text constraint mandates_end_for_a_reason check (
    ended_why in (
      'owner', 'declined', 'pack_changed', 'refunded', 'disputed', 'forgotten', 'card_replaced',
      'closed', 'replaced', 'consent_incomplete'
    )
  ),
  constraint mandates_allow_one_purchase check (
    price_kopecks <= day_ceiling_kopecks and day_ceiling_kopecks <= month_ceiling_kopecks
  ),
  constraint mandates_live_or_have_ended check ((ended_at is null) = (ended_why is null))
);
create unique index mandates_live_one_per_book on mandates (book_id) where ended_at is null;
create index mandates_of_book on mandates (book_id, id);

-- What an owner chose about the e-mails of top-ups; without a row nothing is sent before a charge.
create table top_up_settings (
  book_id int8 primary key references books (id),
  has_advance_notice boolean not null
);

-- The consent in force lives; of the others only the time of the last end was recorded.
insert into mandates (id, book_id, method_title, method_saved_at, pack_id, price_kopecks, credits,
  threshold, day_ceiling_kopecks, month_ceiling_kopecks, version, address, given_at, ended_at,
  ended_why)
select c.id, c.book_id, c.method_title, m.saved_at, c.pack_id, c.price_kopecks, c.credits,
  c.threshold, c.ceiling_kopecks, c.ceiling_kopecks, c.version, c.address, c.given_at,
  case when t.consent_id = c.id then t.stopped_at
    else lead(c.given_at, 1, c.given_at) over (partition by c.book_id order by c.id) end,
  case when t.consent_id = c.id then t.stopped_why else 'replaced' end
from top_up_consents c
left join top_ups t on t.book_id = c.book_id
left join saved_methods m on m.book_id = c.book_id and m.saved_at <= c.given_at;

-- A mandate is given once and ended once; nothing else about it changes.
create function mandates_refuse_change() returns trigger language plpgsql as $$
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
create function orders_refuse_charge_without_mandate() returns trigger
language plpgsql as $$
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
create function mandates_write_old_form() returns trigger language plpgsql as $$
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
create function top_ups_write_mandate() returns trigger language plpgsql as $$
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
create function consents_erase_mandate() returns trigger language plpgsql as $$
begin
  delete from mandates where id = old.id;
  return null;
end $$;

create trigger mandates_are_only_ended before update on mandates
  for each row execute function mandates_refuse_change();
create trigger orders_of_top_ups_have_a_mandate before insert or update of posted_at on orders
  for each row execute function orders_refuse_charge_without_mandate();
create trigger mandates_reach_the_old_form after insert or update on mandates
  for each row execute function mandates_write_old_form();
create trigger top_ups_reach_mandates after insert or update on top_ups
  for each row execute function top_ups_write_mandate();
create trigger consents_take_mandates_along after delete on top_up_consents
  for each row execute function consents_erase_mandate();
