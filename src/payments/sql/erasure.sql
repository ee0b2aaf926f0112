-- What payments hold about a person, and how it is erased. Amounts, times, ids and states stay: the
-- law requires the documents of money for longer than personal data.

-- The book of an order; null for none.
create or replace function payments_book_of(p_order text) returns int8
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select book_id from orders where id = p_order
$$;

-- The books of the orders, refunds and disputes that a text names.
create or replace function payments_books_in(p_text text) returns setof int8
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  with named as (
    select m[1] as id from regexp_matches(p_text, '((?:pay|rfd|dsp)_[0-9a-f]{32})', 'g') as m
  )
  select book_id from orders
  where id in (select id from named)
    or id in (select order_id from refunds where refunds.id in (select id from named))
    or id in (select order_id from disputes where disputes.id in (select id from named))
$$;

-- Erases addresses, texts that people typed, and what the provider told about payers. Security
-- definer: no program's role may change what was written about a decision.
create or replace function payments_erase(p_book int8) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_orders text[] := array(select id from orders where book_id = p_book order by id for update);
begin
  -- A request that was never answered may have to be repeated as it was; erasure waits for it.
  update orders set email = 'erased@invalid', confirmation = null, confirmation_kind = null,
    request_body = case when state = 'created' then request_body end
  where book_id = p_book;
  update refunds set reason = '', owner_digest = null,
    request_body = case when state = 'created' then request_body end
  where order_id = any (v_orders);
  update disputes set note = '' where order_id = any (v_orders);
  update payment_reviews set note = case when note is not null then '' end, detail = ''
  where order_id = any (v_orders);
  update receipts set request_body = null, next_at = null, error = null,
    note = case when note is not null then '[erased]' end,
    state = case when state = 'created' then 'failed' else state end
  where order_id = any (v_orders);
  update receipt_decisions set note = '[erased]' where order_id = any (v_orders);
  update payment_notices set body = '', peer = ''
  where book_id = p_book or order_id = any (v_orders)
    or (provider, provider_payment_id) in (
      select provider, provider_payment_id from orders where id = any (v_orders));
  update payment_findings set detail = '' where subject = any (v_orders);
  -- Promo codes are once ever per address: the keyed digest stays while its code is in force.
  update promo_redemptions r set address_digest = null
  from promo_codes c
  where r.book_id = p_book and c.code = r.code and c.ends_at <= ledger_now();
  delete from promo_attempts where book_id = p_book;
  delete from payment_payers where book_id = p_book;
  delete from saved_methods where book_id = p_book;
  delete from mandates where book_id = p_book;
  delete from top_up_settings where book_id = p_book;
  delete from top_ups where book_id = p_book;
  delete from top_up_consents where book_id = p_book;
end
$$;

-- The digest of an address serves to give a code once; a code that has ended needs none.
create or replace function payments_forget_redeemers() returns int8
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  with forgotten as (
    update promo_redemptions r set address_digest = null
    from promo_codes c
    where c.code = r.code and c.ends_at <= ledger_now() and r.address_digest is not null
    returning 1
  )
  select count(*) from forgotten
$$;
