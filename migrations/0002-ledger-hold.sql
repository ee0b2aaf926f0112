-- The ledger's first verb, hold, and what all verbs share. Each verb is a function of one row; the
-- two hot ones (hold, settle) also have a set-based form for arrays, and every array form means
-- exactly "the one-row form, element after element".
--
-- Safe while an older version runs: nothing called these before.
--
-- Rules that every verb keeps:
--   1. Locks are taken books by id, then holds. The book's row is locked by a statement of its own
--      and read afterwards: locking and summing in one statement went below zero under concurrency,
--      because the sums were computed from the snapshot before the wait.
--   2. An id that exists answers its stored result before fence or balance is looked at; the same
--      id with other parameters answers 'mismatch', which is a fault.
--   3. What is added to a book comes from rows inserted or closed, never from the arguments.
-- plpgsql and not sql: LANGUAGE sql functions measured half the speed (no plan kept).

-- READ COMMITTED is assumed by rule 1: under REPEATABLE READ the second statement would still see
-- the books as they were before the lock.
create function ledger_assert_read_committed() returns void language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the ledger needs READ COMMITTED' using errcode = 'invalid_transaction_state';
  end if;
end $$;

create function ledger_open() returns int8 language sql volatile as $$
  insert into books (id)
  select (cell.number::int8 << 40) | nextval('books_serial') from cell
  returning id
$$;

-- ── hold ────────────────────────────────────────────────────────────────────────────────────────

-- What a book can still promise: what is available, within what the day allows.
create function ledger_headroom(p_available int8, p_day_limit int8, p_day_spent int8, p_held int8)
returns int8 language sql immutable as $$
  select greatest(0, least(p_available, coalesce(p_day_limit - p_day_spent - p_held, p_available)))
$$;

-- Half of what is left, but never less than the floor nor more than the worst case: one request
-- cannot lock its owner out, and a small reply always fits while it can be paid.
create function ledger_grant(p_worst int8, p_floor int8, p_headroom int8)
returns int8 language sql immutable as $$
  select least(p_worst, greatest(p_floor, p_headroom / 2))
$$;

-- The answer to an id that is already there.
create function ledger_hold_stored(
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

create function ledger_hold(
  p_wait boolean, p_instance int8, p_seconds int4,
  p_day int4, p_id uuid, p_book int8, p_tariff int4, p_fence int8, p_worst int8, p_floor int8,
  out outcome text, out granted int8, out available int8
) language plpgsql as $$
declare
  b books;
  v_now timestamptz;
  v_headroom int8;
  v_stored record;
begin
  perform ledger_assert_read_committed();
  if p_wait then
    select * into b from books where books.id = p_book for no key update;
  else
    select * into b from books where books.id = p_book for no key update skip locked;
  end if;
  if not found then
    outcome := ledger_missing(p_book);
    return;
  end if;

  v_now := ledger_now();
  v_headroom := ledger_headroom(b.available, b.day_limit,
    case when b.day = (v_now at time zone 'UTC')::date then b.day_spent else 0 end, b.held);
  granted := ledger_grant(p_worst, p_floor, v_headroom);
  available := v_headroom;
  outcome := case
    when b.fence <> p_fence then 'fence'
    when b.blocked_reason is not null then b.blocked_reason::text
    when b.debt > 0 then 'debt'
    when granted <= v_headroom then 'granted'
    when ledger_grant(p_worst, p_floor, b.available) <= b.available then 'day_limit'
    else 'credits'
  end;

  if outcome = 'granted' then
    insert into holds (id, book_id, instance, worst, floor, granted, fence, created_at,
      deadline_at, day, tariff, state)
    values (p_id, p_book, p_instance, p_worst, p_floor, granted, p_fence, v_now,
      v_now + make_interval(secs => p_seconds), p_day, p_tariff, 'open')
    on conflict do nothing;
    if found then
      update books set available = books.available - granted, held = books.held + granted
      where books.id = p_book;
      return;
    end if;
  end if;

  v_stored := ledger_hold_stored(p_day, p_id, p_book, p_tariff, p_fence, p_worst, p_floor);
  if v_stored.outcome is not null then
    outcome := v_stored.outcome;
    granted := v_stored.granted;
  else
    granted := 0;
  end if;
end $$;

-- Locks the books of an array and returns those it got, sorted. Without p_wait a busy book is left
-- out, so that one locked book stalls nobody else; its operations come back as 'busy' and go to a
-- lane of their own, which waits.
create function ledger_lock(p_wait boolean, p_books int8[]) returns int8[] language plpgsql as $$
declare
  v_locked int8[];
begin
  perform ledger_assert_read_committed();
  -- 256: beyond it a pair costs no less (measured) and the locks of one call are held longer.
  if cardinality(p_books) > 256 then
    raise exception 'an array holds at most 256 operations'
      using errcode = 'program_limit_exceeded';
  end if;
  if p_wait then
    select array_agg(t.id) into v_locked from (
      select id from books where id = any (p_books) order by id for no key update) t;
  else
    select array_agg(t.id) into v_locked from (
      select id from books where id = any (p_books) order by id for no key update skip locked) t;
  end if;
  return coalesce(v_locked, '{}');
end $$;

-- The places of an array whose book is in a sorted list, such as the locked ones. (`= any` would
-- compare up to 256 with 256.)
--
-- `rows 1` tells the planner what is not so, on purpose: from one row it always goes by index to
-- what belongs to it. Told of hundreds, it reads a table from end to end while that is short, and
-- the plan is still there when it is long: settles were four times slower after 150,000 holds.
create function ledger_places(p_books int8[], p_of int8[])
returns table (n int4, book int8) language plpgsql immutable rows 1 as $$
begin
  return query select o.n::int4, o.book from unnest(p_books) with ordinality as o (book, n)
  where p_of[width_bucket(o.book, p_of)] = o.book;
end $$;

-- Why a book could not be locked: someone has it, or there is none.
create function ledger_missing(p_book int8) returns text language sql stable as $$
  select case when exists (select from books where id = p_book) then 'busy' else 'book_unknown' end
$$;

-- The outcomes of an array as text; one without an outcome had a book that was not locked.
create function ledger_outcomes(p_outcomes text[], p_books int8[]) returns text
language plpgsql as $$
begin
  if array_position(p_outcomes, null) is not null then
    for i in 1..cardinality(p_outcomes) loop
      if p_outcomes[i] is null then
        p_outcomes[i] := ledger_missing(p_books[i]);
      end if;
    end loop;
  end if;
  return array_to_string(p_outcomes, ',');
end $$;

-- Holds for at most 256 requests. The set-based body is for rich books: one that has twice what the
-- whole array asks of it grants each request its worst case, whatever their order, since half of
-- what is left always covers the next. Other books are decided one request after the other, each
-- grant leaving less for the next. Answers are comma-separated lists in the order given (256 result
-- rows cost the client more than the database), or the one word 'granted' for "each its worst
-- case". Nothing is joined back to the operations: the planner takes both sides for one row, and
-- the nested loop over 256 by 256 cost more than everything else together. Arrays are read by
-- subscript where a row is written: unnest() of all of them would first store each apart.
create function ledger_hold_many(
  p_wait boolean, p_instance int8, p_seconds int4,
  p_days int4[], p_ids uuid[], p_books int8[], p_tariffs int4[], p_fences int8[],
  p_worsts int8[], p_floors int8[],
  out outcomes text, out granted text, out available text
) language plpgsql as $$
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
      case when b.day = v_today then b.day_spent else 0 end, b.held) / 2;

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

-- An id twice in one array is a bug of the caller: which of the two would be the repeat?
create function ledger_refuse_doubles(p_ids uuid[]) returns void language plpgsql as $$
begin
  if (select count(distinct id) from unnest(p_ids) as o (id)) <> cardinality(p_ids) then
    raise exception 'an id appears twice in one array' using errcode = 'TG002';
  end if;
end $$;
