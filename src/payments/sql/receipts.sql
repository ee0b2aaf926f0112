-- Receipts under 54-FZ: which ones are due, and that they never exceed what was paid.

-- A credited order that was sold with a receipt has one of its prepayment, in the transaction that
-- credits it: the provider registers it with the payment, and a worker reads what became of it.
create or replace function receipts_begin_with_the_credit() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into receipts (id, kind, order_id, state, amount_kopecks, credits, next_at, check_at,
    completed_until)
  select 'rcp_' || substr(new.id, 5), 'prepayment', new.id, 'pending', new.price_kopecks,
    new.credits, ledger_now(), c.at, c.until
  from (select
      case when o.is_owed then ledger_now() end as at,
      case when o.is_owed then new.credited_at end as until
    from (select new.receipt ->> 'mode' = 'full_prepayment'
      and new.receipt ->> 'completions' in ('monthly', 'at_end') as is_owed) o) c;
  return null;
end $$;

-- What of a price is neither completed nor returned: C + R + L <= price, where C are completions, R
-- returns of what was not completed, L what banks took in lost disputes. The caller holds the
-- order's lock.
create or replace function receipts_uncompleted(p_order text, p_but_refund text) returns int8
language sql stable as $$
  select o.price_kopecks
    - coalesce((select sum(amount_kopecks) from receipts
        where order_id = p_order and kind = 'completion'), 0)::int8
    - coalesce((select sum(amount_kopecks - completed_kopecks) from refunds
        where order_id = p_order and state <> 'canceled' and review_id is null
          and id <> p_but_refund), 0)::int8
    - coalesce((select sum(amount_kopecks) from disputes
        where order_id = p_order and state = 'lost'), 0)::int8
  from orders o where o.id = p_order
$$;

-- What of a refund returns credits that a receipt had already completed: what exceeds the part that
-- was not. Its receipt returns a full payment, that of the rest a prepayment.
create or replace function receipts_completed_part(p_order text, p_refund text, p_amount int8)
returns int8 language sql stable as $$
  select greatest(0, least(
    p_amount - greatest(0, receipts_uncompleted(p_order, p_refund)),
    coalesce((select sum(amount_kopecks) from receipts
        where order_id = p_order and kind = 'completion'), 0)::int8
      - coalesce((select sum(completed_kopecks) from refunds
        where order_id = p_order and state <> 'canceled' and id <> p_refund), 0)::int8))
$$;

-- The program writes the same part into the receipt that it sends with the refund.
create or replace function refunds_know_what_was_completed() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from orders where orders.id = new.order_id for no key update;
  -- A canceled refund that succeeds after all may return what was completed meanwhile.
  if tg_op = 'INSERT' or (old.state = 'canceled' and new.state <> 'canceled') then
    new.completed_kopecks := case when new.review_id is null
      then receipts_completed_part(new.order_id, new.id, new.amount_kopecks) else 0 end;
  end if;
  return new;
end $$;

-- A refund that succeeded has a receipt of its return: the provider registers the one that we sent
-- with the refund, or makes its own for a refund in the merchant portal.
create or replace function receipts_follow_refunds() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into receipts (id, kind, order_id, refund_id, state, amount_kopecks, completed_kopecks,
    credits, next_at)
  select 'rcp_' || substr(new.id, 5), 'return', new.order_id, new.id, 'pending',
    new.amount_kopecks, new.completed_kopecks, new.credits, ledger_now()
  from orders o
  where o.id = new.order_id and o.receipt is not null and o.credited_at is not null
  on conflict do nothing;
  return null;
end $$;

-- Nothing exceeds the price, and what a receipt says is never changed.
create or replace function receipts_tie_with_their_order() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    if (old.id, old.kind, old.order_id, old.amount_kopecks, old.completed_kopecks, old.credits,
        old.created_at)
      = (new.id, new.kind, new.order_id, new.amount_kopecks, new.completed_kopecks, new.credits,
        new.created_at)
      and old.refund_id is not distinct from new.refund_id
      and (old.state <> 'registered'
        or (old.state, old.fiscal_document, old.fiscal_storage, old.fiscal_sign, old.registered_at)
          = (new.state, new.fiscal_document, new.fiscal_storage, new.fiscal_sign,
            new.registered_at)) then
      return new;
    end if;
  elsif tg_op = 'INSERT' and new.kind <> 'completion' then
    return new;
  elsif tg_op = 'INSERT' then
    perform from orders where orders.id = new.order_id for no key update;
    if new.amount_kopecks <= receipts_uncompleted(new.order_id, '') then
      return new;
    end if;
    raise exception 'completions of an order and its refunds exceed its price'
      using errcode = 'check_violation';
  end if;
  raise exception 'a receipt keeps what it says' using errcode = 'integrity_constraint_violation';
end $$;
