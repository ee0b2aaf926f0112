-- A hold grants the worst case whenever it fits.
--
-- Why: a hold got at most half of what was left, so a lone client with 199,930 credits and a worst
-- case of 160,086 had its max_tokens lowered although GET /v1/me said that the balance covers it.
-- Now half of what is left is granted only when the worst case does not fit.
--
-- Safe while an older version runs: both call the same functions, and a hold never grants more
-- than is available.

-- The worst case whenever it fits: a lone client never gets less than it can pay for. Otherwise
-- half of what is left, so that one request cannot lock its owner out, but never less than the
-- floor: a small reply fits as long as it can be paid. More than the headroom means a refusal.
create or replace function ledger_grant(p_worst int8, p_floor int8, p_headroom int8)
returns int8 language sql immutable as $$
  select case when p_worst <= p_headroom then p_worst else greatest(p_floor, p_headroom / 2) end
$$;

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
