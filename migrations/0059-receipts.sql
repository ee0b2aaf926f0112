-- Receipts under 54-FZ, one row each: of the prepayment, which the provider registers with the
-- payment; of completions, when prepaid credits were used; of returns, registered with refunds.
--
-- Amounts tie in the database: the completions of an order, its refunds of what was not completed,
-- and what banks took in lost disputes never exceed its price. refunds.completed_kopecks: the part
-- of a refund that returns credits which a receipt had completed; usually 0.
--
-- Safe while an older version runs: triggers add the rows for what it credits and refunds, and it
-- drafts no order whose receipt says that completions are owed. Orders and refunds from before have
-- no rows: their receipts stay with the provider, and orders.receipt_state as it was.

alter table refunds add column completed_kopecks int8 not null default 0
  constraint refunds_complete_no_more_than_they_return
    check (completed_kopecks between 0 and amount_kopecks);

create table receipts (
  -- The digits of its order or refund; of a completion its own.
  id text primary key constraint receipts_ids_carry_their_cell check (id ~ '^rcp_[0-9a-f]{32}$'),
  kind text not null
    constraint receipts_are_of_a_kind check (kind in ('prepayment', 'completion', 'return')),
  order_id text not null references orders (id),
  refund_id text unique references refunds (id)
    constraint receipts_of_returns_have_a_refund
      check ((kind = 'return') = (refund_id is not null)),
  -- created: to be posted, or the outcome is unknown. pending: the provider has it, or has it with
  -- the payment or refund. failed: not registered; posted again at next_at, if that is set.
  -- dismissed: a person has dealt with the failure.
  state text not null constraint receipts_are_in_a_state
    check (state in ('created', 'pending', 'registered', 'failed', 'dismissed')),
  amount_kopecks int8 not null
    constraint receipts_are_of_an_amount check (amount_kopecks > 0),
  completed_kopecks int8 not null default 0
    constraint receipts_return_what_was_completed check (completed_kopecks between 0 and
      amount_kopecks and (kind = 'return' or completed_kopecks = 0)),
  -- Microcredits that it is about.
  credits int8 not null constraint receipts_are_of_credits check (credits >= 0),
  -- A completion is of what was used since the one before and until this moment.
  period_from timestamptz,
  period_until timestamptz constraint receipts_of_completions_have_a_period
    check ((kind = 'completion') = (period_from is not null and period_until is not null)),
  -- The idempotency key is the id, with the number of the attempt from the second on.
  attempt int4 not null default 1 constraint receipts_attempts_begin_at_one check (attempt >= 1),
  attempted_at timestamptz not null default ledger_now(),
  -- The exact bytes that are posted, with the payer's address; deleted when they have an answer.
  request_body text
    constraint receipts_bodies_are_short check (octet_length(request_body) <= 16384),
  provider_receipt_id text unique
    constraint receipts_provider_ids_are_short
      check (length(provider_receipt_id) between 1 and 100),
  fiscal_document text
    constraint receipts_documents_are_short check (length(fiscal_document) between 1 and 50),
  fiscal_storage text
    constraint receipts_storages_are_short check (length(fiscal_storage) between 1 and 50),
  fiscal_sign text
    constraint receipts_signs_are_short check (length(fiscal_sign) between 1 and 50),
  registered_at timestamptz,
  tries int4 not null default 0,
  next_at timestamptz,
  error text constraint receipts_errors_are_short check (length(error) between 1 and 300),
  -- Of a prepayment whose completions are owed: when to look again, and until when it is completed.
  check_at timestamptz,
  completed_until timestamptz,
  decided_by text constraint receipts_name_who_decided check (length(decided_by) between 1 and 100),
  note text constraint receipts_notes_are_short check (length(note) between 1 and 1000),
  created_at timestamptz not null default ledger_now(),
  constraint receipts_are_registered_with_all_numbers check (state <> 'registered'
    or (fiscal_document is not null and fiscal_storage is not null and fiscal_sign is not null
      and registered_at is not null and provider_receipt_id is not null)),
  constraint receipts_keep_no_address_without_need
    check (state = 'created' or request_body is null),
  constraint receipts_can_be_posted check (state <> 'created' or request_body is not null),
  constraint receipts_are_dismissed_by_somebody
    check ((state = 'dismissed') = (decided_by is not null and note is not null)),
  constraint receipts_are_checked_with_the_prepayment
    check (kind = 'prepayment' or (check_at is null and completed_until is null))
);

create unique index receipts_are_one_per_prepayment on receipts (order_id)
  where kind = 'prepayment';
-- What was used until a moment is completed once, also by two workers.
create unique index receipts_complete_a_period_once on receipts (order_id, period_from)
  where kind = 'completion';
create index receipts_of_an_order on receipts (order_id);
create index receipts_that_are_due on receipts (next_at) where next_at is not null;
create index receipts_to_check on receipts (check_at) where check_at is not null;
create index receipts_that_failed on receipts (created_at) where state = 'failed';
create index receipts_by_time on receipts (registered_at) where registered_at is not null;

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

create trigger receipts_keep_their_word before insert or update or delete on receipts
  for each row execute function receipts_tie_with_their_order();
create trigger orders_have_a_receipt after update of credited_at on orders
  for each row when (old.credited_at is null and new.credited_at is not null
    and new.receipt is not null)
  execute function receipts_begin_with_the_credit();
create trigger refunds_know_their_completed_part before insert or update of state on refunds
  for each row execute function refunds_know_what_was_completed();
create trigger refunds_have_a_receipt after insert or update of state on refunds
  for each row when (new.state = 'succeeded' and new.review_id is null)
  execute function receipts_follow_refunds();
