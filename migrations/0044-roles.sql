-- Functions for roles with rights of their own (migrations/roles.sql grants them).
--
-- Why: every program connected as the owner of the tables, and one call of ledger_credit forged a
-- purchase. Now the functions that move money run with the rights of their owner, and a program's
-- role may call only its own: a purchase is credited by its order, promo credits by their
-- redemption, and a gateway reads the keys that one presented key can be.
--
-- Safe while an older version runs: it runs as the owner, for whom nothing changes.

alter function ledger_hold security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_hold_many security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_settle_request security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_settle_requests security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_void_request security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_void_requests security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_refund security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_refund_reverse security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_adjust_down security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_forced_debit security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_open security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_fence_raise security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_block security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_resume security definer
  set search_path = pg_catalog, public, pg_temp;
alter function ledger_day_checkpoint security definer
  set search_path = pg_catalog, public, pg_temp;
alter function orders_refuse_charge_without_mandate security definer
  set search_path = pg_catalog, public, pg_temp;
alter function mandates_write_old_form security definer
  set search_path = pg_catalog, public, pg_temp;
alter function top_ups_write_mandate security definer
  set search_path = pg_catalog, public, pg_temp;
alter function consents_erase_mandate security definer
  set search_path = pg_catalog, public, pg_temp;

-- Sets the owner's limits; null removes one. Adding a velocity limit starts a new window; changing
-- one does not, or owners could get around the limit by changing it.
create or replace function ledger_limits_set(
  p_book int8, p_day_limit int8, p_velocity_limit int8, p_velocity_seconds int4
) returns void language sql volatile security definer
set search_path = pg_catalog, public, pg_temp as $$
  update books
  set day_limit = p_day_limit, velocity_limit = p_velocity_limit,
    velocity_seconds = p_velocity_seconds,
    velocity_spent = case when velocity_limit is null then 0 else velocity_spent end,
    velocity_until = case when velocity_limit is null then '-infinity' else velocity_until end
  where id = p_book
$$;

-- An operator's correction upwards.
create or replace function ledger_adjust_up(
  p_book int8, p_ref text, p_amount int8, p_contra contra, p_note text,
  out outcome text, out seq int8, out available int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  select c.outcome, c.seq, c.available into outcome, seq, available
  from ledger_credit(p_book, 'adjust', p_ref, p_amount, p_contra, p_note) c;
end $$;

-- Credits that an operator gives; they are never refunded. Its reference begins with `op `, or it
-- could take the place of the credits of a promo code.
create or replace function ledger_gift(
  p_book int8, p_ref text, p_amount int8, p_note text,
  out outcome text, out seq int8, out available int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  if left(p_ref, 3) <> 'op ' then
    raise exception 'the reference of a gift begins with op' using errcode = 'check_violation';
  end if;
  select c.outcome, c.seq, c.available into outcome, seq, available
  from ledger_credit(p_book, 'promo', p_ref, p_amount, 'promo', p_note) c;
end $$;

-- Locks the book of a settle in quarantine and tells about its hold; no row when the book has not
-- got it.
create or replace function ledger_hold_lock(p_day int4, p_id uuid, p_book int8)
returns table (state hold_state, tariff int4) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from books b where b.id = p_book for no key update;
  return query
    select h.state, h.tariff from holds h
    where h.day = p_day and h.id = p_id and h.book_id = p_book;
end $$;

-- The settle of a swept hold was written off: gives the hold the ending `refused`, so that no copy
-- of the settle is charged later.
create or replace function ledger_hold_refuse(p_day int4, p_id uuid, p_book int8) returns void
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  update holds set ending = 'refused'
  where day = p_day and id = p_id and book_id = p_book and state = 'voided'
    and ending in ('process_lost', 'overdue')
$$;

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

-- Adds a code's credits for a redemption, once. The amount is the code's, and the code's limits of
-- time, number and purchases are checked against the rows of the redemption, whoever wrote them.
-- Answers like ledger_credit, or 'not_redeemed'.
create or replace function promos_credit(
  p_code text, p_book int8, out outcome text, out seq int8, out available int8, out credits int8
) language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  select c.credits into credits from promo_codes c
  join promo_redemptions r on r.code = c.code and r.book_id = p_book
  where c.code = p_code and c.starts_at <= r.redeemed_at and r.redeemed_at < c.ends_at
    and c.redemptions_max >= (select count(*) from promo_redemptions a where a.code = c.code)
    and c.purchases_min <= (
      select count(*) from promo_purchases p where p.code = c.code and p.book_id = p_book);
  if not found then
    outcome := 'not_redeemed';
    return;
  end if;
  select l.outcome, l.seq, l.available into outcome, seq, available
  from ledger_credit(p_book, 'promo', p_code || ' ' || p_book, credits, 'promo', p_code) l;
end $$;

-- The keys that one presented key can be: the one with its id, or those that share its lookup,
-- active ones first. A gateway may call this and nothing else, so it cannot list the hashes.
create or replace function keys_candidates(p_id text, p_lookup bytea)
returns setof keys language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  return query
    select * from keys k where k.id = p_id or k.lookup = p_lookup
    order by k.state, k.lookup_slot;
end $$;

-- Applies the first version: the first process that starts may do so, later ones are an operator's.
create or replace function catalogue_apply_first(
  p_by text, p_note text, p_body text, p_digest text
) returns boolean language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into catalogue_versions (version, applied_by, note, body, digest)
  select 1, p_by, p_note, p_body, p_digest where not exists (select from catalogue_versions)
  on conflict (version) do nothing;
  return found;
end
$$;

-- Adds the job, with the rights of this function's owner: those who write an e-mail may write no
-- other job, and need no right to the tables of graphile-worker.
create or replace function letters_queue(p_letter uuid) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform graphile_worker.add_job(
    'letter', json_build_object('id', p_letter), job_key => 'letter ' || p_letter);
end $$;

-- Triggers that refuse changes and are switched off or gone: only the owner of the tables can do
-- that, so somebody who has the owner's password did. Book 0 stands for the whole database.
create or replace function ledger_audit_triggers() returns setof finding language sql stable as $$
  select 'trigger_off', 0::int8, t.tgrelid::regclass || ' ' || t.tgname
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'public'::regnamespace and t.tgenabled in ('D', 'R')
  union all
  select 'trigger_gone', 0::int8, e.relation || ' ' || e.name
  from (values ('entries', 'entries_never_change'), ('entries', 'entries_are_never_emptied'),
    ('tariffs', 'tariffs_never_change'), ('tariffs', 'tariffs_are_never_emptied'),
    ('operator_acts', 'operator_acts_are_append_only'), ('orders', 'orders_keep_their_word'),
    ('orders', 'orders_of_top_ups_have_a_mandate'), ('keys', 'keys_never_come_back'),
    ('mandates', 'mandates_are_only_ended'),
    ('catalogue_versions', 'catalogue_versions_are_append_only')) as e (relation, name)
  where not exists (select from pg_trigger t
    where t.tgrelid = to_regclass('public.' || e.relation) and t.tgname = e.name)
$$;
