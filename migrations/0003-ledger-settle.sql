-- The verbs that end a hold: settle (a charge) and void (free). The rules all verbs keep stand at
-- the head of 0002-ledger-hold.sql.
--
-- Safe while an older version runs: nothing called these before.

-- ── settle ──────────────────────────────────────────────────────────────────────────────────────

-- Takes a charge from a book that the caller has locked. p_released is what the hold gives back;
-- p_from_available is what a late settle takes instead. Debt is paid before anything is available.
create function ledger_book_charge(
  p_book int8, p_now timestamptz, p_amount int8, p_unheld int8, p_released int8,
  p_from_available int8, out available int8
) language plpgsql as $$
declare
  v_today date := (p_now at time zone 'UTC')::date;
begin
  update books b set
    held = b.held - p_unheld,
    debt = b.debt - least(b.debt, p_released),
    available = b.available + p_released - least(b.debt, p_released) - p_from_available,
    seq = b.seq + 1,
    requests = b.requests + 1,
    spent_total = b.spent_total + p_amount,
    day = v_today,
    day_spent = case when b.day = v_today then b.day_spent else 0 end + p_amount,
    velocity_spent = ledger_velocity_spent(b.velocity_limit, b.velocity_until, b.velocity_spent,
      p_now, p_amount),
    velocity_until = ledger_velocity_until(b.velocity_limit, b.velocity_until, b.velocity_seconds,
      p_now),
    blocked_reason = case
      when b.blocked_reason is null and b.velocity_limit < ledger_velocity_spent(b.velocity_limit,
        b.velocity_until, b.velocity_spent, p_now, p_amount) then 'velocity_stopped'
      else b.blocked_reason end
  where b.id = p_book
  returning b.available into available;
end $$;

-- The velocity window tumbles: it starts with the first charge after the last one ended.
create function ledger_velocity_spent(
  p_limit int8, p_until timestamptz, p_spent int8, p_now timestamptz, p_amount int8
) returns int8 language sql immutable as $$
  select case when p_limit is null then 0 when p_now < p_until then p_spent + p_amount
    else p_amount end
$$;
create function ledger_velocity_until(
  p_limit int8, p_until timestamptz, p_seconds int4, p_now timestamptz
) returns timestamptz language sql stable as $$
  select case when p_limit is null or p_now < p_until then p_until
    else p_now + make_interval(secs => p_seconds) end
$$;

create function ledger_settle(
  p_wait boolean, p_day int4, p_id uuid, p_book int8, p_input int8, p_output int8,
  p_cache_read int8, p_cache_write_5m int8, p_cache_write_1h int8, p_priced int8, p_ending ending,
  p_estimated boolean, p_message_id text,
  out outcome text, out amount int8, out written_off int8, out available int8
) language plpgsql as $$
declare
  b books;
  h holds;
  e entries;
  v_now timestamptz;
  v_is_late boolean := false;
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
  update holds set state = 'settled', ending = p_ending, closed_at = v_now,
    charged = least(p_priced, holds.granted), entry_seq = b.seq + 1
  where holds.day = p_day and holds.id = p_id and holds.state = 'open' and holds.book_id = p_book
  returning * into h;

  if not found then
    select * into h from holds where holds.day = p_day and holds.id = p_id;
    if h.id is null then
      outcome := 'hold_unknown';
      return;
    elsif h.book_id <> p_book then
      outcome := 'mismatch';
      return;
    elsif h.state = 'settled' then
      -- The day keeps the look-up to one partition.
      select * into e from entries where book_id = p_book and seq = h.entry_seq
        and day = (h.closed_at at time zone 'UTC')::date and hold_id = p_id;
      outcome := case when (e.input, e.output, e.cache_read, e.cache_write_5m, e.cache_write_1h,
          e.priced, e.ending, e.estimated) = (p_input, p_output, p_cache_read, p_cache_write_5m,
          p_cache_write_1h, p_priced, p_ending, p_estimated)
        and e.message_id is not distinct from p_message_id then 'settled' else 'mismatch' end;
      amount := h.charged;
      written_off := e.written_off;
      available := b.available;
      return;
    elsif h.ending not in ('process_lost', 'overdue') then
      outcome := 'voided';
      return;
    end if;
    -- The process was taken for dead, and its credits are free again: the late charge takes what is
    -- still there and the house bears the rest.
    v_is_late := true;
    update holds set state = 'settled', ending = p_ending, closed_at = v_now,
      charged = least(p_priced, holds.granted, b.available), entry_seq = b.seq + 1
    where holds.day = p_day and holds.id = p_id
    returning * into h;
  end if;

  amount := h.charged;
  written_off := p_priced - amount;
  insert into entries (book_id, seq, amount, balance, at, hold_id, input, output, cache_read,
    cache_write_5m, cache_write_1h, priced, written_off, day, tariff, kind, contra, ending,
    estimated, message_id)
  values (p_book, b.seq + 1, -amount, b.available + b.held - b.debt - amount, v_now, p_id, p_input,
    p_output, p_cache_read, p_cache_write_5m, p_cache_write_1h, p_priced, written_off,
    (v_now at time zone 'UTC')::date, h.tariff, 'charge', 'revenue', p_ending,
    p_estimated, p_message_id);
  available := ledger_book_charge(p_book, v_now, amount,
    case when v_is_late then 0 else h.granted end,
    case when v_is_late then 0 else h.granted - amount end,
    case when v_is_late then amount else 0 end);
  outcome := 'settled';
end $$;

-- Settles at most 256 holds. The set-based body is for the ordinary case, every hold open; anything
-- else undoes it and takes the elements one after the other. A price above its grant is ordinary:
-- what is charged depends on that hold alone. Amounts are given only where less than the price was
-- charged, as place:amount; what is available afterwards is given by book, not by element. Between
-- its parts the body carries places, and reads the arrays where a row is written.
create function ledger_settle_many(
  p_wait boolean,
  p_days int4[], p_ids uuid[], p_books int8[], p_inputs int8[], p_outputs int8[],
  p_cache_reads int8[], p_cache_writes_5m int8[], p_cache_writes_1h int8[], p_priced int8[],
  p_endings ending[], p_estimated boolean[], p_message_ids text[],
  out outcomes text, out amounts text, out books text, out available text
) language plpgsql as $$
declare
  v_count int4 := cardinality(p_ids);
  v_locked int8[] := ledger_lock(p_wait, p_books);
  v_now timestamptz := ledger_now();
  v_today date := (v_now at time zone 'UTC')::date;
  v_expected int4;
  v_closed int4;
  v_outcomes text[] := array_fill(null::text, array[v_count]);
  v_one record;
begin
  begin
    with ops as materialized (
      select o.n, o.book, row_number() over (partition by o.book order by o.n) as nth
      from ledger_places(p_books, v_locked) as o
    ), closed as (
      update holds h set state = 'settled', ending = p_endings[o.n], closed_at = v_now,
        charged = least(p_priced[o.n], h.granted), entry_seq = b.seq + o.nth
      from ops o join books b on b.id = o.book
      where h.day = p_days[o.n] and h.id = p_ids[o.n] and h.state = 'open' and h.book_id = o.book
      returning o.n, o.book, h.entry_seq as seq, h.tariff, h.granted, h.charged,
        b.available + b.held - b.debt as balance
    ), written as (
      insert into entries (book_id, seq, amount, balance, at, hold_id, input, output, cache_read,
        cache_write_5m, cache_write_1h, priced, written_off, day, tariff, kind, contra, ending,
        estimated, message_id)
      select c.book, c.seq, -c.charged,
        c.balance - sum(c.charged) over (partition by c.book order by c.seq), v_now, p_ids[c.n],
        p_inputs[c.n], p_outputs[c.n], p_cache_reads[c.n], p_cache_writes_5m[c.n],
        p_cache_writes_1h[c.n], p_priced[c.n], p_priced[c.n] - c.charged, v_today, c.tariff,
        'charge', 'revenue', p_endings[c.n], p_estimated[c.n], p_message_ids[c.n]
      from closed c
    ), sums as (
      select c.book, count(*) as requests, sum(c.charged)::int8 as charged,
        sum(c.granted)::int8 as granted,
        string_agg(c.n || ':' || c.charged, ',') filter (where c.charged < p_priced[c.n]) as capped
      from closed c group by c.book
    ), updated as (
      update books b set
        held = b.held - s.granted,
        debt = b.debt - least(b.debt, s.granted - s.charged),
        available = b.available + s.granted - s.charged - least(b.debt, s.granted - s.charged),
        seq = b.seq + s.requests,
        requests = b.requests + s.requests,
        spent_total = b.spent_total + s.charged,
        day = v_today,
        day_spent = case when b.day = v_today then b.day_spent else 0 end + s.charged,
        velocity_spent = ledger_velocity_spent(b.velocity_limit, b.velocity_until,
          b.velocity_spent, v_now, s.charged),
        velocity_until = ledger_velocity_until(b.velocity_limit, b.velocity_until,
          b.velocity_seconds, v_now),
        blocked_reason = case
          when b.blocked_reason is null and b.velocity_limit < ledger_velocity_spent(
            b.velocity_limit, b.velocity_until, b.velocity_spent, v_now, s.charged)
            then 'velocity_stopped'
          else b.blocked_reason end
      from sums s where b.id = s.book
      returning b.id, b.available, s.requests, s.capped
    )
    select (select count(*) from ops), coalesce(sum(u.requests), 0), string_agg(u.capped, ','),
      string_agg(u.id::text, ','), string_agg(u.available::text, ',')
    into v_expected, v_closed, amounts, books, available
    from updated u;
    if v_closed <> v_expected then
      raise exception 'not ordinary' using errcode = 'TG001';
    end if;
    if v_expected = v_count then
      outcomes := 'settled';
      return;
    end if;
    for i in 1..v_count loop
      if p_books[i] = any (v_locked) then
        v_outcomes[i] := 'settled';
      end if;
    end loop;
    outcomes := ledger_outcomes(v_outcomes, p_books);
    return;
  exception when sqlstate 'TG001' then
    perform ledger_refuse_doubles(p_ids);
  end;
  amounts := null;
  for i in 1..v_count loop
    if p_books[i] = any (v_locked) then
      v_one := ledger_settle(true, p_days[i], p_ids[i], p_books[i], p_inputs[i], p_outputs[i],
        p_cache_reads[i], p_cache_writes_5m[i], p_cache_writes_1h[i], p_priced[i], p_endings[i],
        p_estimated[i], p_message_ids[i]);
      v_outcomes[i] := v_one.outcome;
      if v_one.amount < p_priced[i] then
        amounts := concat_ws(',', amounts, i || ':' || v_one.amount);
      end if;
    end if;
  end loop;
  outcomes := ledger_outcomes(v_outcomes, p_books);
  select string_agg(b.id::text, ','), string_agg(b.available::text, ',') into books, available
  from books b where b.id = any (v_locked);
end $$;

-- ── void ────────────────────────────────────────────────────────────────────────────────────────

-- Gives a hold back, free of charge, and leaves an entry of nothing that says why: the owner sees
-- failures too. Void of an unknown id writes a closed row, so that a delayed hold cannot appear
-- after its request was given up.
create function ledger_void(
  p_wait boolean, p_instance int8, p_day int4, p_id uuid, p_book int8, p_tariff int4,
  p_ending ending, p_reason text, out outcome text, out available int8
) language plpgsql as $$
declare
  b books;
  h holds;
  v_now timestamptz;
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
  available := b.available;
  update holds set state = 'voided', ending = p_ending, closed_at = v_now, entry_seq = b.seq + 1
  where holds.day = p_day and holds.id = p_id and holds.state = 'open' and holds.book_id = p_book
  returning * into h;

  if not found then
    insert into holds (id, book_id, instance, worst, floor, granted, fence, created_at,
      deadline_at, day, tariff, state, ending, closed_at)
    values (p_id, p_book, p_instance, 0, 0, 0, b.fence, v_now, v_now, p_day, p_tariff, 'voided',
      p_ending, v_now)
    on conflict do nothing;
    if found then
      outcome := 'voided';
    else
      select case when holds.book_id <> p_book then 'mismatch' else holds.state::text end
      into outcome from holds where holds.day = p_day and holds.id = p_id;
    end if;
    return;
  end if;

  insert into entries (book_id, seq, amount, balance, at, hold_id, day, tariff, kind, contra,
    ending, note)
  values (p_book, b.seq + 1, 0, b.available + b.held - b.debt, v_now, p_id,
    (v_now at time zone 'UTC')::date, h.tariff, 'void', 'none', p_ending, p_reason);
  update books set
    held = books.held - h.granted,
    debt = books.debt - least(books.debt, h.granted),
    available = books.available + h.granted - least(books.debt, h.granted),
    seq = books.seq + 1
  where books.id = p_book
  returning books.available into available;
  outcome := 'voided';
end $$;

create function ledger_void_many(
  p_wait boolean, p_instance int8, p_days int4[], p_ids uuid[], p_books int8[], p_tariffs int4[],
  p_endings ending[], p_reasons text[], out outcomes text
) language plpgsql as $$
declare
  v_locked int8[] := ledger_lock(p_wait, p_books);
  v_outcomes text[] := array_fill(null::text, array[cardinality(p_ids)]);
  v_one record;
begin
  perform ledger_refuse_doubles(p_ids);
  for i in 1..cardinality(p_ids) loop
    if p_books[i] = any (v_locked) then
      v_one := ledger_void(true, p_instance, p_days[i], p_ids[i], p_books[i], p_tariffs[i],
        p_endings[i], p_reasons[i]);
      v_outcomes[i] := v_one.outcome;
    end if;
  end loop;
  outcomes := ledger_outcomes(v_outcomes, p_books);
end $$;
