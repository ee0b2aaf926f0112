-- Orders: the trigger that refuses to change what was sold or which payment paid for it, and the
-- only function that credits one.

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

-- Credits an order once, and marks it credited: there is no purchase posting without its order.
-- Book, amount and reference are the order's own. The caller has locked the order's row, and says
-- which payment paid for it: PostgreSQL cannot ask the provider, but the comparison with its lists
-- does. Answers like ledger_credit, or 'order_unknown', 'credited' or 'not_payable'.
create or replace function orders_credit(
  p_order text, p_payment text, p_captured_at timestamptz, p_receipt_state text,
  p_by payment_trigger, out outcome text, out seq int8, out seconds float8
) language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  o orders;
begin
  select * into o from orders where orders.id = p_order for update;
  outcome := case
    when not found then 'order_unknown'
    when o.credited_at is not null then 'credited'
    -- A captured payment is credited also after a cancellation, an expiry or a refused creation.
    when o.state not in ('created', 'pending', 'failed', 'canceled', 'expired', 'review')
      or p_payment is null or o.provider_payment_id <> p_payment then 'not_payable'
  end;
  if outcome is not null then
    return;
  end if;
  select c.outcome, c.seq into outcome, seq
  from ledger_credit(o.book_id, 'purchase', o.id, o.credits, 'clearing', o.pack_title) c;
  if outcome not in ('posted', 'repeated') then
    return;
  end if;
  update orders
  set state = 'credited', provider_payment_id = p_payment, captured_at = p_captured_at,
    receipt_state = p_receipt_state, lot = orders_credit.seq, credited_at = ledger_now(),
    credited_by = p_by, cancel_reason = null, request_body = null, next_at = null
  where orders.id = p_order
  returning extract(epoch from credited_at - captured_at)::float8 into seconds;
end $$;
