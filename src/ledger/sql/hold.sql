-- Hold: sets credits aside under the book's lock, one row or an array of at most 256.
--
-- Rules that hold, settle, void and the postings keep:
--   1. Locks are taken books by id, then holds. A one-row form reads the book's row by the
--      statement that locks it, which returns the row as it is after the wait. An array form locks
--      the rows by a statement of their own (`ledger_lock`) and reads them afterwards: locking and
--      summing in one statement went below zero under concurrency, because the sums were computed
--      from the snapshot before the wait.
--   2. An id that exists answers its stored result, whatever fence and balance are by now; the same
--      id with other parameters answers 'mismatch', which is a fault.
--   3. What is added to a book comes from rows inserted or closed, never from the arguments.
--   4. An array form means exactly "the one-row form, element after element".
--   5. A book's day never goes back: it is the later of today and the day of its last entry. A
--      clock that stepped back over midnight would otherwise write a later entry to an earlier
--      day, and the chain could not be read day by day. `entries.at` is always the real time.
-- plpgsql and not sql: LANGUAGE sql functions measured half the speed (no plan kept).

-- What a book can still promise: what is available, within what the day allows.
create or replace function ledger_headroom(
  p_available int8, p_day_limit int8, p_day_spent int8, p_held int8
)
returns int8 language sql immutable as $$
  select greatest(0, least(p_available, coalesce(p_day_limit - p_day_spent - p_held, p_available)))
$$;

-- The worst case whenever it fits: a lone client never gets less than it can pay for. Otherwise
-- half of what is left, so that one request cannot lock its owner out, but never less than the
-- floor: a small reply fits as long as it can be paid. More than the headroom means a refusal.
create or replace function ledger_grant(p_worst int8, p_floor int8, p_headroom int8)
returns int8 language sql immutable as $$
  select case when p_worst <= p_headroom then p_worst else greatest(p_floor, p_headroom / 2) end
$$;

-- The answer to an id that is already there.
create or replace function ledger_hold_stored(
  p_day int4, p_id uuid, p_book int8, p_tariff int4, p_fence int8, p_worst int8, p_floor int8,
  out outcome text, out granted int8
) language plpgsql as $$
declare
  h holds;
begin
  select * into h from holds where holds.day = p_day and holds.id = p_id;
  if not found then
    return;
  end if;
  granted := h.granted;
  outcome := case
    when h.book_id <> p_book then 'mismatch'
    when h.state = 'voided' then 'voided'
    when (h.tariff, h.fence, h.worst, h.floor) <> (p_tariff, p_fence, p_worst, p_floor)
      then 'mismatch'
    else 'granted'
  end;
end $$;

-- Holds for one request. It reads the columns that it needs instead of a whole row, and checks the
-- isolation in place: `perform` is a statement of its own. A refusal for the day's limit or for
-- want of credits leaves a mark on the book, once a day or once per change of the book, so that
-- guards can write to the owner without reading the hot tables. The day's mark has the figures of
-- the day's first refusal: what the request needed, and what was left.
create or replace function ledger_hold(
  p_wait boolean, p_instance int8, p_seconds int4,
  p_day int4, p_id uuid, p_book int8, p_tariff int4, p_fence int8, p_worst int8, p_floor int8,
  out outcome text, out granted int8, out available int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  v_available int8;
  v_held int8;
  v_debt int8;
  v_fence int8;
  v_blocked blocked_reason;
  v_day date;
  v_day_limit int8;
  v_day_spent int8;
  v_now timestamptz;
  v_today date;
  v_stored record;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform ledger_assert_read_committed();
  end if;
  if p_wait then
    select b.available, b.held, b.debt, b.fence, b.blocked_reason, b.day, b.day_limit, b.day_spent
    into v_available, v_held, v_debt, v_fence, v_blocked, v_day, v_day_limit, v_day_spent
    from books b where b.id = p_book for no key update;
  else
    select b.available, b.held, b.debt, b.fence, b.blocked_reason, b.day, b.day_limit, b.day_spent
    into v_available, v_held, v_debt, v_fence, v_blocked, v_day, v_day_limit, v_day_spent
    from books b where b.id = p_book for no key update skip locked;
  end if;
  if not found then
    outcome := ledger_missing(p_book);
    return;
  end if;

  v_now := ledger_now();
  v_today := greatest((v_now at time zone 'UTC')::date, v_day);
  available := ledger_headroom(v_available, v_day_limit,
    case when v_day = v_today then v_day_spent else 0 end, v_held);
  granted := ledger_grant(p_worst, p_floor, available);
  outcome := case
    when v_fence <> p_fence then 'fence'
    when v_blocked is not null then v_blocked::text
    when v_debt > 0 then 'debt'
    when granted <= available then 'granted'
    when ledger_grant(p_worst, p_floor, v_available) <= v_available then 'day_limit'
    else 'credits'
  end;

  if outcome = 'granted' then
    insert into holds (id, book_id, instance, worst, floor, granted, fence, created_at,
      deadline_at, day, tariff, state)
    values (p_id, p_book, p_instance, p_worst, p_floor, granted, p_fence, v_now,
      v_now + make_interval(secs => p_seconds), p_day, p_tariff, 'open')
    on conflict do nothing;
    if found then
      update books b set available = b.available - granted, held = b.held + granted
      where b.id = p_book;
      return;
    end if;
  end if;

  v_stored := ledger_hold_stored(p_day, p_id, p_book, p_tariff, p_fence, p_worst, p_floor);
  if v_stored.outcome is not null then
    outcome := v_stored.outcome;
    granted := v_stored.granted;
  else
    granted := 0;
    if outcome = 'day_limit' then
      update books b
      set day_limit_met = v_today, day_limit_needed = p_floor,
        day_limit_left = ledger_hold.available
      where b.id = p_book and b.day_limit_met is distinct from v_today;
    elsif outcome = 'credits' then
      update books b set short_seq = b.seq
      where b.id = p_book and b.short_seq is distinct from b.seq;
    end if;
  end if;
end $$;

-- Holds for at most 256 requests. The set-based body is for rich books: one whose headroom covers
-- all that the array asks of it grants each request its worst case, whatever their order. Other
-- books are decided one request after the other, each grant leaving less for the next. Answers are
-- comma-separated lists in the order given (256 result rows cost the client more than the
-- database), or the one word 'granted' for "each its worst case". Nothing is joined back to the
-- operations: the planner takes both sides for one row, and the nested loop over 256 by 256 cost
-- more than everything else together. Arrays are read by subscript where a row is written: unnest()
-- of all of them would first store each apart.
create or replace function ledger_hold_many(
  p_wait boolean, p_instance int8, p_seconds int4,
  p_days int4[], p_ids uuid[], p_books int8[], p_tariffs int4[], p_fences int8[],
  p_worsts int8[], p_floors int8[],
  out outcomes text, out granted text, out available text
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  v_count int4 := cardinality(p_ids);
  v_locked int8[] := ledger_lock(p_wait, p_books);
  v_now timestamptz := ledger_now();
  v_today date := (v_now at time zone 'UTC')::date;
  v_deadline timestamptz := v_now + make_interval(secs => p_seconds);
  v_rich int8[];
  v_asked int4;
  v_outcomes text[] := array_fill(null::text, array[v_count]);
  v_granted int8[] := p_worsts;
  v_available int8[] := p_worsts;
  v_one record;
begin
  select coalesce(array_agg(b.id order by b.id), '{}'), coalesce(sum(a.asked), 0)
  into v_rich, v_asked
  from (
    select o.book, sum(p_worsts[o.n])::int8 as worst, count(*)::int4 as asked,
      min(p_fences[o.n]) as fence_min, max(p_fences[o.n]) as fence_max
    from ledger_places(p_books, v_locked) as o
    group by o.book
  ) a
  join books b on b.id = a.book
  where b.fence = a.fence_min and b.fence = a.fence_max
    and b.debt = 0 and b.blocked_reason is null
    and a.worst <= ledger_headroom(b.available, b.day_limit,
      case when b.day >= v_today then b.day_spent else 0 end, b.held);

  begin
    with inserted as (
      insert into holds (id, book_id, instance, worst, floor, granted, fence, created_at,
        deadline_at, day, tariff, state)
      select p_ids[o.n], o.book, p_instance, p_worsts[o.n], p_floors[o.n], p_worsts[o.n],
        p_fences[o.n], v_now, v_deadline, p_days[o.n], p_tariffs[o.n], 'open'
      from ledger_places(p_books, v_rich) as o
      returning holds.book_id, holds.granted
    ), sums as (
      select i.book_id, sum(i.granted)::int8 as granted from inserted i group by i.book_id
    )
    update books b set available = b.available - s.granted, held = b.held + s.granted
    from sums s where b.id = s.book_id;
  exception when unique_violation then
    -- An id was there before: what it got then counts, and not what it asks now.
    v_rich := '{}';
    v_asked := 0;
  end;
  if v_asked = v_count then
    outcomes := 'granted';
    return;
  end if;
  perform ledger_refuse_doubles(p_ids);
  for i in 1..v_count loop
    if p_books[i] = any (v_rich) then
      v_outcomes[i] := 'granted';
    elsif p_books[i] = any (v_locked) then
      v_one := ledger_hold(true, p_instance, p_seconds, p_days[i], p_ids[i], p_books[i],
        p_tariffs[i], p_fences[i], p_worsts[i], p_floors[i]);
      v_outcomes[i] := v_one.outcome;
      v_granted[i] := v_one.granted;
      v_available[i] := v_one.available;
    end if;
  end loop;
  outcomes := ledger_outcomes(v_outcomes, p_books);
  granted := array_to_string(v_granted, ',', '0');
  available := array_to_string(v_available, ',', '0');
end $$;
