-- Settle: closes a hold and writes its charge, one row or an array of at most 256. The rules that
-- it keeps stand at the head of hold.sql.

-- The velocity window tumbles: it starts with the first charge after the last one ended.
create or replace function ledger_velocity_spent(
  p_limit int8, p_until timestamptz, p_spent int8, p_now timestamptz, p_amount int8
) returns int8 language sql immutable as $$
  select case when p_limit is null then 0 when p_now < p_until then p_spent + p_amount
    else p_amount end
$$;

create or replace function ledger_velocity_until(
  p_limit int8, p_until timestamptz, p_seconds int4, p_now timestamptz
) returns timestamptz language sql stable as $$
  select case when p_limit is null or p_now < p_until then p_until
    else p_now + make_interval(secs => p_seconds) end
$$;

-- Charges a hold at most what it was granted and writes off the rest. It reads the columns that it
-- needs instead of whole rows, and changes the book itself: a call of another function would be a
-- statement of its own.
--
-- p_numbers and p_texts say what the request was like, in the order of src/ledger/details.ts; the
-- array forms have 9 numbers and 10 texts for each operation, one operation after the other. Two
-- arrays instead of 19: PostgreSQL unpacks each one apart. Either may be null. The first number is
-- the price list of the charge: null means that of the hold. The last text is the parts as JSON.
--
-- A repeat is the same when counts, price, ending and price list are. A caller that names no price
-- list is of the version before, and the list is not compared.
create or replace function ledger_settle_request(
  p_wait boolean, p_day int4, p_id uuid, p_book int8, p_input int8, p_output int8,
  p_cache_read int8, p_cache_write_5m int8, p_cache_write_1h int8, p_priced int8, p_ending ending,
  p_estimated boolean, p_message_id text, p_numbers int4[], p_texts text[],
  out outcome text, out amount int8, out written_off int8, out available int8
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  v_seq int8;
  v_available int8;
  v_balance int8;
  v_tariff int4;
  v_unheld int8;
  v_released int8;
  v_from_available int8 := 0;
  h holds;
  e entries;
  v_now timestamptz;
  v_day date;
  v_today date;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform ledger_assert_read_committed();
  end if;
  if p_wait then
    select b.seq, b.available, b.available + b.held - b.debt, b.day
    into v_seq, v_available, v_balance, v_day
    from books b where b.id = p_book for no key update;
  else
    select b.seq, b.available, b.available + b.held - b.debt, b.day
    into v_seq, v_available, v_balance, v_day
    from books b where b.id = p_book for no key update skip locked;
  end if;
  if not found then
    outcome := ledger_missing(p_book);
    return;
  end if;
  v_now := ledger_now();
  v_today := greatest((v_now at time zone 'UTC')::date, v_day);
  update holds set state = 'settled', ending = p_ending, closed_at = v_now,
    charged = least(p_priced, holds.granted), entry_seq = v_seq + 1
  where holds.day = p_day and holds.id = p_id and holds.state = 'open' and holds.book_id = p_book
  returning holds.tariff, holds.charged, holds.granted, holds.granted - holds.charged
  into v_tariff, amount, v_unheld, v_released;

  if not found then
    select * into h from holds where holds.day = p_day and holds.id = p_id;
    if h.id is null then
      outcome := 'hold_unknown';
      return;
    elsif h.book_id <> p_book then
      outcome := 'mismatch';
      return;
    elsif h.state = 'settled' then
      -- The days keep the look-up to few partitions: an entry is never on an earlier day than its
      -- time, nor on a later one than its book.
      select * into e from entries where book_id = p_book and seq = h.entry_seq
        and day >= (h.closed_at at time zone 'UTC')::date and day <= v_today and hold_id = p_id;
      outcome := case when (e.input, e.output, e.cache_read, e.cache_write_5m, e.cache_write_1h,
          e.priced, e.ending, e.estimated) = (p_input, p_output, p_cache_read, p_cache_write_5m,
          p_cache_write_1h, p_priced, p_ending, p_estimated)
        and e.message_id is not distinct from p_message_id
        and coalesce(e.tariff = p_numbers[1], true) then 'settled' else 'mismatch' end;
      amount := h.charged;
      written_off := e.written_off;
      available := v_available;
      return;
    elsif h.ending not in ('process_lost', 'overdue') then
      outcome := 'voided';
      return;
    end if;
    -- The process was taken for dead, and its credits are free again: the late charge takes what is
    -- still there and the house bears the rest.
    update holds set state = 'settled', ending = p_ending, closed_at = v_now,
      charged = least(p_priced, holds.granted, v_available), entry_seq = v_seq + 1
    where holds.day = p_day and holds.id = p_id
    returning holds.tariff, holds.charged, 0, 0, holds.charged
    into v_tariff, amount, v_unheld, v_released, v_from_available;
  end if;

  written_off := p_priced - amount;
  insert into entries (book_id, seq, amount, balance, at, hold_id, input, output, cache_read,
    cache_write_5m, cache_write_1h, priced, written_off, day, tariff, kind, contra, ending,
    estimated, message_id, first_byte_ms, total_ms, waited_ms, bytes_in, bytes_out, status,
    retries, streamed, stop_reason, error_type, target, vendor_request_id, service_tier,
    session_id, agent_id, parent_agent_id, label, parts)
  values (p_book, v_seq + 1, -amount, v_balance - amount, v_now, p_id, p_input,
    p_output, p_cache_read, p_cache_write_5m, p_cache_write_1h, p_priced, written_off,
    v_today, coalesce(p_numbers[1], v_tariff), 'charge', 'revenue', p_ending, p_estimated,
    p_message_id, p_numbers[2], p_numbers[3], p_numbers[4], p_numbers[5], p_numbers[6],
    p_numbers[7], p_numbers[8], p_numbers[9] = 1, p_texts[1], p_texts[2], p_texts[3], p_texts[4],
    p_texts[5], p_texts[6], p_texts[7], p_texts[8], p_texts[9], p_texts[10]::jsonb);
  -- Debt is paid before anything is available.
  update books b set
    held = b.held - v_unheld,
    debt = b.debt - least(b.debt, v_released),
    available = b.available + v_released - least(b.debt, v_released) - v_from_available,
    seq = b.seq + 1,
    requests = b.requests + 1,
    spent_total = b.spent_total + amount,
    day = v_today,
    day_spent = case when b.day = v_today then b.day_spent else 0 end + amount,
    velocity_spent = ledger_velocity_spent(b.velocity_limit, b.velocity_until, b.velocity_spent,
      v_now, amount),
    velocity_until = ledger_velocity_until(b.velocity_limit, b.velocity_until, b.velocity_seconds,
      v_now),
    blocked_reason = case
      when b.blocked_reason is null and b.velocity_limit < ledger_velocity_spent(b.velocity_limit,
        b.velocity_until, b.velocity_spent, v_now, amount) then 'velocity_stopped'
      else b.blocked_reason end
  where b.id = p_book
  returning b.available into available;
  outcome := 'settled';
end $$;

-- Settles at most 256 holds. The set-based body is for the ordinary case, every hold open; anything
-- else undoes it and takes the elements one after the other. A price above its grant is ordinary:
-- what is charged depends on that hold alone. Amounts are given only where less than the price was
-- charged, as place:amount; what is available afterwards is given by book, not by element. Between
-- its parts the body carries places, and reads the arrays where a row is written.
create or replace function ledger_settle_requests(
  p_wait boolean,
  p_days int4[], p_ids uuid[], p_books int8[], p_inputs int8[], p_outputs int8[],
  p_cache_reads int8[], p_cache_writes_5m int8[], p_cache_writes_1h int8[], p_priced int8[],
  p_endings ending[], p_estimated boolean[], p_message_ids text[], p_numbers int4[],
  p_texts text[],
  out outcomes text, out amounts text, out books text, out available text
) language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
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
        b.available + b.held - b.debt as balance, greatest(v_today, b.day) as day
    ), written as (
      insert into entries (book_id, seq, amount, balance, at, hold_id, input, output, cache_read,
        cache_write_5m, cache_write_1h, priced, written_off, day, tariff, kind, contra, ending,
        estimated, message_id, first_byte_ms, total_ms, waited_ms, bytes_in, bytes_out, status,
        retries, streamed, stop_reason, error_type, target, vendor_request_id, service_tier,
        session_id, agent_id, parent_agent_id, label, parts)
      select c.book, c.seq, -c.charged,
        c.balance - sum(c.charged) over (partition by c.book order by c.seq), v_now, p_ids[c.n],
        p_inputs[c.n], p_outputs[c.n], p_cache_reads[c.n], p_cache_writes_5m[c.n],
        p_cache_writes_1h[c.n], p_priced[c.n], p_priced[c.n] - c.charged, c.day,
        coalesce(p_numbers[9 * c.n - 8], c.tariff), 'charge', 'revenue', p_endings[c.n],
        p_estimated[c.n], p_message_ids[c.n], p_numbers[9 * c.n - 7], p_numbers[9 * c.n - 6],
        p_numbers[9 * c.n - 5], p_numbers[9 * c.n - 4], p_numbers[9 * c.n - 3],
        p_numbers[9 * c.n - 2], p_numbers[9 * c.n - 1], p_numbers[9 * c.n] = 1,
        p_texts[10 * c.n - 9], p_texts[10 * c.n - 8], p_texts[10 * c.n - 7],
        p_texts[10 * c.n - 6], p_texts[10 * c.n - 5], p_texts[10 * c.n - 4],
        p_texts[10 * c.n - 3], p_texts[10 * c.n - 2], p_texts[10 * c.n - 1],
        p_texts[10 * c.n]::jsonb
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
        day = greatest(v_today, b.day),
        day_spent = case when b.day >= v_today then b.day_spent else 0 end + s.charged,
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
      v_one := ledger_settle_request(true, p_days[i], p_ids[i], p_books[i], p_inputs[i],
        p_outputs[i], p_cache_reads[i], p_cache_writes_5m[i], p_cache_writes_1h[i], p_priced[i],
        p_endings[i], p_estimated[i], p_message_ids[i], p_numbers[9 * i - 8:9 * i],
        p_texts[10 * i - 9:10 * i]);
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

-- For the version before 0026, which does not say what a request was like.
create or replace function ledger_settle(
  p_wait boolean, p_day int4, p_id uuid, p_book int8, p_input int8, p_output int8,
  p_cache_read int8, p_cache_write_5m int8, p_cache_write_1h int8, p_priced int8, p_ending ending,
  p_estimated boolean, p_message_id text,
  out outcome text, out amount int8, out written_off int8, out available int8
) language plpgsql as $$
begin
  select s.outcome, s.amount, s.written_off, s.available
  into outcome, amount, written_off, available
  from ledger_settle_request(p_wait, p_day, p_id, p_book, p_input, p_output, p_cache_read,
    p_cache_write_5m, p_cache_write_1h, p_priced, p_ending, p_estimated, p_message_id, null,
    null) s;
end $$;

-- For the version before 0026.
create or replace function ledger_settle_many(
  p_wait boolean,
  p_days int4[], p_ids uuid[], p_books int8[], p_inputs int8[], p_outputs int8[],
  p_cache_reads int8[], p_cache_writes_5m int8[], p_cache_writes_1h int8[], p_priced int8[],
  p_endings ending[], p_estimated boolean[], p_message_ids text[],
  out outcomes text, out amounts text, out books text, out available text
) language plpgsql as $$
begin
  select s.outcomes, s.amounts, s.books, s.available into outcomes, amounts, books, available
  from ledger_settle_requests(p_wait, p_days, p_ids, p_books, p_inputs, p_outputs, p_cache_reads,
    p_cache_writes_5m, p_cache_writes_1h, p_priced, p_endings, p_estimated, p_message_ids, null,
    null) s;
end $$;
