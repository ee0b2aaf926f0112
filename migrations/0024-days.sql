-- A book's day never goes back, every day of the next 60 has its partition, and old days leave the
-- ledger step by step.
--
-- Why: a clock that stepped back 300 ms over midnight wrote a later entry to an earlier day, and
-- from then on neither the audit nor the retention of any book went on. Nine days without a worker
-- filled the default partition, which did the same. An open reader and the job that makes
-- partitions stopped every request for 5 s.
--
-- Safe while an older version runs: the functions keep their parameters and results, and its worker
-- finds the partitions that it would make. It makes days and takes them away by the new texts.
--
-- The tables of the coming days are created first. Then the migration locks `entries` to remove the
-- default partition. It waits 0.1 s for the lock, up to 50 times with pauses of 0.4 s, so requests
-- wait little even beside a long reader; then `migrate` fails, changes nothing, and is to be run
-- again. Rows of the default partition move to their days under that lock, a million in 11 to 21 s
-- (measured on two busy processors): look with `select count(*) from entries_default`, and if there
-- are many, migrate in a quiet hour.

-- The days that leave or have left the ledger. A day becomes checkpointed, detached, exported and
-- dropped, in this order, each in a transaction of its own: after a crash the next run goes on.
-- Rows and checkpointed_at are unknown for days that an older version detached.
create table days (
  day date primary key,
  state text not null
    constraint days_state_is_known
    check (state in ('checkpointed', 'detached', 'exported', 'dropped')),
  rows int8,
  unverified int8 not null default 0,
  checkpointed_at timestamptz,
  detached_at timestamptz,
  exported_at timestamptz,
  dropped_at timestamptz,
  -- The folder with the exported files, and the digest of their digests.
  folder text,
  digest text
);

-- Entries of detached days whose book did not verify. No constraints but those of the types: what
-- broke a rule must fit in. No triggers: an operator repairs rows here.
create table entries_unverified (like entries);
create index entries_unverified_by_book on entries_unverified (book_id, seq);

-- Holds for one request. It reads the columns that it needs instead of a whole row, and checks the
-- isolation in place: `perform` is a statement of its own. A refusal for the day's limit or for
-- want of credits leaves a mark on the book, once a day or once per change of the book, so that
-- guards can write to the owner without reading the hot tables.
create or replace function ledger_hold(
  p_wait boolean, p_instance int8, p_seconds int4,
  p_day int4, p_id uuid, p_book int8, p_tariff int4, p_fence int8, p_worst int8, p_floor int8,
  out outcome text, out granted int8, out available int8
) language plpgsql as $$
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
      update books b set day_limit_met = v_today
      where b.id = p_book and b.day_limit_met is distinct from v_today;
    elsif outcome = 'credits' then
      update books b set short_seq = b.seq
      where b.id = p_book and b.short_seq is distinct from b.seq;
    end if;
  end if;
end $$;

-- Holds for at most 256 requests. The set-based body is for rich books: one that has twice what the
-- whole array asks of it grants each request its worst case, whatever their order, since half of
-- what is left always covers the next. Other books are decided one request after the other, each
-- grant leaving less for the next. Answers are comma-separated lists in the order given (256 result
-- rows cost the client more than the database), or the one word 'granted' for "each its worst
-- case". Nothing is joined back to the operations: the planner takes both sides for one row, and
-- the nested loop over 256 by 256 cost more than everything else together. Arrays are read by
-- subscript where a row is written: unnest() of all of them would first store each apart.
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
      case when b.day >= v_today then b.day_spent else 0 end, b.held) / 2;

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

-- Charges a hold at most what it was granted and writes off the rest. It reads the columns that it
-- needs instead of whole rows, and changes the book itself: a call of another function would be a
-- statement of its own.
create or replace function ledger_settle(
  p_wait boolean, p_day int4, p_id uuid, p_book int8, p_input int8, p_output int8,
  p_cache_read int8, p_cache_write_5m int8, p_cache_write_1h int8, p_priced int8, p_ending ending,
  p_estimated boolean, p_message_id text,
  out outcome text, out amount int8, out written_off int8, out available int8
) language plpgsql as $$
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
        and e.message_id is not distinct from p_message_id then 'settled' else 'mismatch' end;
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
    estimated, message_id)
  values (p_book, v_seq + 1, -amount, v_balance - amount, v_now, p_id, p_input,
    p_output, p_cache_read, p_cache_write_5m, p_cache_write_1h, p_priced, written_off,
    v_today, v_tariff, 'charge', 'revenue', p_ending, p_estimated, p_message_id);
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
create or replace function ledger_settle_many(
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
        b.available + b.held - b.debt as balance, greatest(v_today, b.day) as day
    ), written as (
      insert into entries (book_id, seq, amount, balance, at, hold_id, input, output, cache_read,
        cache_write_5m, cache_write_1h, priced, written_off, day, tariff, kind, contra, ending,
        estimated, message_id)
      select c.book, c.seq, -c.charged,
        c.balance - sum(c.charged) over (partition by c.book order by c.seq), v_now, p_ids[c.n],
        p_inputs[c.n], p_outputs[c.n], p_cache_reads[c.n], p_cache_writes_5m[c.n],
        p_cache_writes_1h[c.n], p_priced[c.n], p_priced[c.n] - c.charged, c.day, c.tariff,
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

-- Releases a hold's credits and writes an entry with amount 0 and the reason: the owner sees failed
-- requests too. For an unknown id it inserts a closed hold, so that a delayed hold cannot succeed
-- after its request was given up.
create or replace function ledger_void(
  p_wait boolean, p_instance int8, p_day int4, p_id uuid, p_book int8, p_tariff int4,
  p_ending ending, p_reason text, out outcome text, out available int8
) language plpgsql as $$
declare
  b books;
  h holds;
  v_now timestamptz;
  v_today date;
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
  v_today := greatest((v_now at time zone 'UTC')::date, b.day);
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
  values (p_book, b.seq + 1, 0, b.available + b.held - b.debt, v_now, p_id, v_today,
    h.tariff, 'void', 'none', p_ending, p_reason);
  update books set
    held = books.held - h.granted,
    debt = books.debt - least(books.debt, h.granted),
    available = books.available + h.granted - least(books.debt, h.granted),
    seq = books.seq + 1,
    day = v_today,
    day_spent = case when books.day = v_today then books.day_spent else 0 end
  where books.id = p_book
  returning books.available into available;
  outcome := 'voided';
end $$;

-- Posts one rare entry to a book the caller has locked, and moves the book to the entry's day; the
-- caller changes its amounts. Answers 'posted', 'repeated' or 'mismatch'.
create or replace function ledger_post(
  b books, p_kind entry_kind, p_ref text, p_amount int8, p_lot int8, p_contra contra,
  p_note text, out outcome text, out seq int8
) language plpgsql as $$
declare
  v_now timestamptz := ledger_now();
  v_today date := greatest((v_now at time zone 'UTC')::date, b.day);
  v_stored postings;
begin
  insert into postings (kind, ref, book_id, amount, seq, lot, at)
  values (p_kind, p_ref, b.id, p_amount, b.seq + 1, p_lot, v_now)
  on conflict do nothing;
  if not found then
    select * into v_stored from postings where postings.kind = p_kind and postings.ref = p_ref;
    seq := v_stored.seq;
    outcome := case when (v_stored.book_id, v_stored.amount) = (b.id, p_amount)
      and v_stored.lot is not distinct from p_lot then 'repeated' else 'mismatch' end;
    return;
  end if;
  seq := b.seq + 1;
  insert into entries (book_id, seq, amount, balance, at, day, kind, contra, ref, note)
  values (b.id, seq, p_amount, b.available + b.held - b.debt + p_amount, v_now,
    v_today, p_kind, p_contra, p_ref, p_note);
  update books set day = v_today, day_spent = 0 where books.id = b.id and books.day < v_today;
  outcome := 'posted';
end $$;

-- Every entry that the audit reads: the ledger's, and those of days that left it although their
-- book did not verify. While such a day is still attached, its rows are read from the ledger.
-- PostgreSQL puts this text in place of the call.
create or replace function ledger_audited_entries() returns setof entries
language sql stable as $$
  select * from entries
  union all
  select u.* from entries_unverified u
  where not exists (select from days d where d.day = u.day and d.state = 'checkpointed')
$$;

-- Entries: of known books, on no day before their time, with the contra account of their kind. A
-- day may be later than the time: a book's day never goes back, and the clock may.
create or replace function ledger_audit_entries() returns setof finding language sql stable as $$
  select ('book_missing', e.book_id, format('entry %s', e.seq))::finding
  from ledger_audited_entries() e where not exists (select from books b where b.id = e.book_id)
  union all
  select ('entry_day', e.book_id, format('entry %s of %s stands on %s', e.seq, e.at,
    e.day))::finding
  from ledger_audited_entries() e where e.day < (e.at at time zone 'UTC')::date
  union all
  select ('contra', e.book_id, format('entry %s: %s against %s', e.seq, e.kind, e.contra))::finding
  from ledger_audited_entries() e
  where (e.kind = 'charge') <> (e.contra = 'revenue') or (e.kind = 'void') <> (e.contra = 'none')
  union all
  select ('void_and_hold_differ', e.book_id, format('entry %s, hold %s', e.seq, e.hold_id))::finding
  from ledger_audited_entries() e join holds h on h.id = e.hold_id
  where e.kind = 'void' and (h.book_id <> e.book_id
    or (h.state = 'voided' and h.entry_seq is distinct from e.seq) or h.state = 'open')
$$;

-- The chain: seq without gaps, each balance the one before plus the amount, the last one the book.
-- From the marks of the continuous audit, or (p_all) from the checkpoints. A mark that a checkpoint
-- has overtaken counts for nothing: the entries between them are gone. It reads one day more than
-- it needs, and only p_all reports a day that goes back: before migration 0024 a clock that stepped
-- back over midnight wrote such days, and they must not stop the marks.
create or replace function ledger_audit_chain(p_all boolean)
returns setof finding language sql stable as $$
  with due as materialized (
    select b.id, b.seq, b.available + b.held - b.debt as balance,
      coalesce(m.seq, c.seq, 0) as from_seq,
      coalesce(m.balance, c.balance, 0) as from_balance,
      coalesce(m.day, c.day, '-infinity') as from_day
    from books b
    left join checkpoints c on c.book_id = b.id
    left join audit_marks m on m.book_id = b.id and not p_all and m.seq >= coalesce(c.seq, 0)
    where p_all or b.seq <> coalesce(m.seq, c.seq, 0)
      or b.available + b.held - b.debt <> coalesce(m.balance, c.balance, 0)
  ), chain as (
    select d.id, e.seq, e.amount, e.balance, e.day, lag(e.day, 1, d.from_day) over w as day_before,
      lag(e.seq, 1, d.from_seq) over w as seq_before,
      lag(e.balance, 1, d.from_balance) over w as balance_before,
      row_number() over (partition by d.id order by e.seq desc) as from_end,
      d.seq as book_seq, d.balance as book_balance
    from due d
    left join ledger_audited_entries() e on e.book_id = d.id and e.seq > d.from_seq
      and e.day >= d.from_day - 1
    window w as (partition by d.id order by e.seq)
  )
  select ('seq_gap', id, format('entry %s follows %s', seq, seq_before))::finding
  from chain where seq is not null and seq <> seq_before + 1
  union all
  select ('balance_chain', id, format('entry %s: %s + %s is not %s', seq, balance_before, amount,
    balance))::finding
  from chain where seq is not null and balance_before + amount <> balance
  union all
  select ('day_back', id, format('entry %s: %s follows %s', seq, day, day_before))::finding
  from chain where p_all and day < day_before
  union all
  select ('book_seq', id, format('the book says %s, its last entry %s', book_seq,
    coalesce(seq, seq_before)))::finding
  from chain where from_end = 1 and book_seq <> coalesce(seq, seq_before)
  union all
  select ('book_balance', id, format('the book says %s, its last entry %s', book_balance,
    coalesce(balance, balance_before)))::finding
  from chain where from_end = 1 and book_balance <> coalesce(balance, balance_before)
$$;

-- Charges: each belongs to one hold that says the same, once, at the price it names.
create or replace function ledger_audit_charges() returns setof finding language sql stable as $$
  with charges as materialized (
    select e.book_id, e.seq, e.hold_id, e.amount, e.tariff, e.priced, e.written_off, e.input,
      e.output, e.cache_read, e.cache_write_5m, e.cache_write_1h, e.day, e.at, e.ending
    from ledger_audited_entries() e where e.kind = 'charge'
  ), held as materialized (
    select h.id, h.book_id, h.state, h.entry_seq, h.charged, h.granted, h.tariff, h.ending,
      h.closed_at
    from holds h
  )
  select ('charged_twice', min(book_id), format('hold %s has %s charges', hold_id,
    count(*)))::finding
  from charges group by hold_id having count(*) > 1
  union all
  select ('charge_and_hold_differ', c.book_id, format('entry %s, hold %s', c.seq,
    c.hold_id))::finding
  from charges c join held h on h.id = c.hold_id
  where (h.state, h.entry_seq, h.charged, h.book_id, h.tariff, h.ending) is distinct from
    ('settled'::hold_state, c.seq, -c.amount, c.book_id, c.tariff, c.ending)
  union all
  select ('charge_missing', h.book_id, format('hold %s is settled without an entry', h.id))::finding
  from held h
  where h.state = 'settled' and not exists (select from charges c where c.hold_id = h.id)
    and not exists (select from checkpoints k where k.book_id = h.book_id and k.seq >= h.entry_seq)
  union all
  select ('charge_without_hold', c.book_id, format('entry %s, hold %s', c.seq, c.hold_id))::finding
  from charges c
  -- The week inside the id names the partition of its hold; one that was dropped proves nothing.
  where not exists (select from holds h where h.id = c.hold_id)
    and to_regclass('holds_'
      || ('x' || left(translate(c.hold_id::text, '-', ''), 12))::bit(48)::int8 / 604800000)
      is not null
  union all
  select ('price', c.book_id, format('entry %s is priced %s', c.seq, c.priced))::finding
  from charges c left join tariffs t on t.id = c.tariff
  where c.priced is distinct from c.input * 1000000 + c.output * t.coefficient
    + c.cache_read * t.cache_read + c.cache_write_5m * t.cache_write_5m
    + c.cache_write_1h * t.cache_write_1h
  union all
  select ('written_off', c.book_id, format('entry %s', c.seq))::finding
  from charges c where c.priced <> c.written_off - c.amount or c.written_off < 0 or c.amount > 0
$$;

-- Rare entries: each has its posting, each posting its entry, each credit its lot.
create or replace function ledger_audit_postings() returns setof finding language sql stable as $$
  select ('posting_without_entry', p.book_id, format('%s %s', p.kind, p.ref))::finding
  from postings p
  left join ledger_audited_entries() e on e.book_id = p.book_id and e.seq = p.seq
    and (e.kind, e.ref, e.amount) = (p.kind, p.ref, p.amount)
  left join checkpoints c on c.book_id = p.book_id
  where e.seq is null and p.seq > coalesce(c.seq, 0)
  union all
  select ('entry_without_posting', e.book_id, format('entry %s: %s %s', e.seq, e.kind,
    e.ref))::finding
  from ledger_audited_entries() e
  left join postings p on p.kind = e.kind and p.ref = e.ref and p.seq = e.seq
  where e.kind not in ('charge', 'void') and p.ref is null
  union all
  select ('lot', p.book_id, format('%s %s of %s has a lot of %s', p.kind, p.ref, p.amount,
    l.credited))::finding
  from postings p left join lots l on l.kind = p.kind and l.ref = p.ref
  where p.amount > 0 and p.kind <> 'refund_reversal'
    and (l.credited, l.book_id, l.seq) is distinct from (p.amount, p.book_id, p.seq)
  union all
  select ('taken_back', l.book_id, format('lots gave back %s, entries %s', l.taken,
    p.taken))::finding
  from (select book_id, sum(taken_back) as taken from lots group by book_id) l
  join (
    select book_id, -sum(amount) as taken, bool_or(kind = 'forced_debit') as is_forced
    from postings where kind in ('refund', 'refund_reversal', 'forced_debit') group by book_id
    union all
    select b.id, 0, false from books b where not exists (select from postings p
      where p.book_id = b.id and p.kind in ('refund', 'refund_reversal', 'forced_debit'))
  ) p on p.book_id = l.book_id
  where l.taken > p.taken or (l.taken < p.taken and not p.is_forced)
$$;

-- Sums: what a book counted is what its entries say, with what the checkpoints remember. An entry
-- that a checkpoint includes may still be there, until its day is detached.
create or replace function ledger_audit_sums() returns setof finding language sql stable as $$
  with sums as (
    select x.book_id, sum(x.requests) as requests, sum(x.spent) as spent, sum(x.amount) as amount,
      sum(x.today) as today
    from (
      select e.book_id, count(*) filter (where e.kind = 'charge') as requests,
        coalesce(-sum(e.amount) filter (where e.kind = 'charge'), 0) as spent,
        sum(e.amount) as amount,
        coalesce(-sum(e.amount) filter (where e.kind = 'charge' and e.day = b.day), 0) as today
      from ledger_audited_entries() e join books b on b.id = e.book_id
      left join checkpoints c on c.book_id = e.book_id
      where e.seq > coalesce(c.seq, 0)
      group by e.book_id
      union all
      select k.book_id, sum(k.entries) filter (where k.kind = 'charge'),
        -sum(k.amount) filter (where k.kind = 'charge'), sum(k.amount), 0
      from checkpoint_sums k group by k.book_id
    ) x group by x.book_id
  )
  select (v.rule, b.id, format('the book says %s, its entries %s', v.said, v.summed))::finding
  from books b left join sums s on s.book_id = b.id
  left join checkpoints c on c.book_id = b.id
  cross join lateral (values
    ('spent_total', b.spent_total, coalesce(s.spent, 0)),
    ('requests', b.requests, coalesce(s.requests, 0)),
    ('sum_of_entries', b.available + b.held - b.debt, coalesce(s.amount, 0)),
    ('day_spent', case when b.day > coalesce(c.day, '-infinity') then b.day_spent end, s.today)
  ) v (rule, said, summed)
  where v.said <> v.summed
  union all
  select ('checkpoint', c.book_id, format('says %s after %s entries, its sums %s after %s',
    c.balance, c.seq, s.amount, s.entries))::finding
  from checkpoints c
  left join (select book_id, sum(amount) as amount, sum(entries) as entries
    from checkpoint_sums group by book_id) s on s.book_id = c.book_id
  where (c.balance, c.seq) is distinct from (s.amount, s.entries)
$$;

-- Whether a table exists, by a query: after a wait for another maker, `to_regclass` may still
-- answer from this connection's cache.
create or replace function ledger_table_exists(p_name text) returns boolean
language plpgsql as $$
begin
  return exists (select from pg_class c where c.relname = p_name
    and c.relnamespace = (select t.relnamespace from pg_class t where t.oid = 'entries'::regclass));
end $$;

-- Makes the table of one day of entries; true when it was missing. ATTACH needs SHARE UPDATE
-- EXCLUSIVE on entries, which stops no read and no write, because entries have no default
-- partition. The new table has no CHECK of its day: it is empty, so there is nothing to scan, and
-- PostgreSQL would read the text of that check again for each statement that writes a row.
--
-- A day may come again: a clock ran ahead, the day left the ledger, the clock was corrected. Its
-- table is attached again, or made anew if it was dropped; `days` forgets that the day had left.
create or replace function ledger_entries_day_make(p_day date) returns boolean
language plpgsql set lock_timeout = '100ms' as $$
declare
  v_name text := 'entries_' || to_char(p_day, 'YYYYMMDD');
begin
  if exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'entries'::regclass and c.relname = v_name
  ) then
    return false;
  end if;
  if ledger_table_exists(v_name) then
    delete from entries_unverified where day = p_day;
  else
    execute format('create table %I (like entries including all)', v_name);
  end if;
  delete from days where day = p_day;
  execute format('alter table entries attach partition %I for values from (%L) to (%L)',
    v_name, p_day, p_day + 1);
  return true;
end $$;

-- Makes the table of one week of holds; true when it was missing. Rows of that week that are in the
-- default partition (a gateway's clock ran ahead, or no worker was there in time) move into it. The
-- lock on holds comes first and makes new holds wait: one that had chosen the default partition
-- already would fail. More than 5,000 rows stay where they are, and no table is made: moving 5,000
-- takes 0.1 to 0.2 s, and meanwhile every request waits. The default partition serves them as well.
create or replace function ledger_holds_week_make(p_week int4) returns boolean
language plpgsql set lock_timeout = '100ms' as $$
declare
  v_name text := 'holds_' || p_week;
  v_first int4 := p_week * 7;
begin
  if ledger_table_exists(v_name) or (
    select count(*) from (
      select from holds_default h where h.day >= v_first and h.day < v_first + 7 limit 5001) t
  ) > 5000 then
    return false;
  end if;
  execute format('create table %I (like holds including all) with (fillfactor = 44)', v_name);
  lock table only holds in share row exclusive mode;
  lock table only holds_default in access exclusive mode;
  execute format('insert into %I select * from holds_default where day >= %s and day < %s',
    v_name, v_first, v_first + 7);
  delete from holds_default h where h.day >= v_first and h.day < v_first + 7;
  execute format('alter table holds attach partition %I for values from (%s) to (%s)',
    v_name, v_first, v_first + 7);
  return true;
end $$;

-- The partitions around a day, in one transaction: for the version before 0024 and for tools.
-- Workers make each partition in a transaction of its own.
create or replace function ledger_partitions_make(p_today date)
returns text[] language plpgsql as $$
declare
  v_made text[] := '{}';
  v_week int4 := floor((p_today - date '1970-01-01') / 7.0);
begin
  for i in -1..7 loop
    if ledger_entries_day_make(p_today + i) then
      v_made := v_made || ('entries_' || to_char(p_today + i, 'YYYYMMDD'));
    end if;
  end loop;
  for i in 0..1 loop
    if ledger_holds_week_make(v_week + i) then
      v_made := v_made || ('holds_' || v_week + i);
    end if;
  end loop;
  return v_made;
end $$;

-- Writes the checkpoints of a day, the oldest that has none: from then on the chain of its books
-- starts after it, its spans are forgotten, and the day can be detached. A book counts as verified
-- when its rows continue its checkpoint without a gap and each balance is right. The rows of other
-- books are copied to entries_unverified and do not stop the day: the audit reads them there, and
-- each later day tries again, so that a book goes on when its rows were repaired. Rows that a clock
-- before 0024 wrote to the wrong day verify with the next day. Refused while a verified book is not
-- all in the sums, because its usage could not be added later.
create or replace function ledger_day_checkpoint(p_day date) returns void
language plpgsql as $$
declare
  v_table text := 'entries_' || to_char(p_day, 'YYYYMMDD');
  -- A day that came again has rows that are in the checkpoints already.
  v_new text := format(
    '(select e.* from %I e where not exists (select from checkpoints c
       where c.book_id = e.book_id and c.seq >= e.seq and c.day >= %L))', v_table, p_day);
  v_rows text := format(
    '(select n.*, false as is_old from %s n union all select u.*, true from entries_unverified u)',
    v_new);
  v_unverified int8[];
  v_is_behind boolean;
begin
  if exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'entries'::regclass and c.relname < v_table
      and not exists (select from days d where 'entries_' || to_char(d.day, 'YYYYMMDD') = c.relname)
  ) then
    raise exception 'an older day than % has no checkpoints yet', p_day;
  end if;
  execute format($sql$
    with chain as (
      select r.book_id, r.seq, r.is_old, b.id is not null
          and r.seq = lag(r.seq, 1, coalesce(c.seq, 0)) over w + 1
          and r.balance = lag(r.balance, 1, coalesce(c.balance, 0)) over w + r.amount as is_next
      from %1$s r
      left join checkpoints c on c.book_id = r.book_id
      left join books b on b.id = r.book_id
      window w as (partition by r.book_id order by r.seq)
    ), summed as (
      select k.book_id, bool_and(k.is_next) as is_whole, bool_or(k.is_old) as is_old,
        max(k.seq) > coalesce(max(m.seq), 0) as is_behind
      from chain k left join usage_marks m on m.book_id = k.book_id
      group by k.book_id
    )
    select coalesce(array_agg(book_id) filter (where not is_whole or (is_old and is_behind)), '{}'),
      coalesce(bool_or(is_whole and is_behind and not is_old), false)
    from summed
  $sql$, v_rows) into v_unverified, v_is_behind;
  if v_is_behind then
    raise exception 'the usage in % is not all added up; nothing was changed', v_table;
  end if;
  -- One statement: once the checkpoints are written, their rows are no longer among these.
  execute format($sql$
    with verified as materialized (
      select book_id, seq, kind, amount, balance, written_off from %1$s r
      where book_id <> all ($1)
    ), checkpointed as (
      insert into checkpoints (book_id, seq, balance, day)
      select distinct on (book_id) book_id, seq, balance, $2 from verified
      order by book_id, seq desc
      on conflict (book_id) do update
      set seq = excluded.seq, balance = excluded.balance, day = excluded.day
    )
    insert into checkpoint_sums (book_id, kind, entries, amount, written_off)
    select book_id, kind, count(*), sum(amount), coalesce(sum(written_off), 0) from verified
    group by book_id, kind
    on conflict (book_id, kind) do update
    set entries = checkpoint_sums.entries + excluded.entries,
      amount = checkpoint_sums.amount + excluded.amount,
      written_off = checkpoint_sums.written_off + excluded.written_off
  $sql$, v_rows) using v_unverified, p_day;
  delete from entries_unverified where book_id <> all (v_unverified);
  execute format('insert into entries_unverified select * from %s n where book_id = any ($1)',
    v_new) using v_unverified;
  execute format($sql$
    delete from usage_spans s using (select distinct book_id from %I) e
    where s.book_id = e.book_id and s.day = $1
  $sql$, v_table) using p_day;
  execute format($sql$
    insert into days (day, state, rows, unverified, checkpointed_at)
    select $2, 'checkpointed', count(*), count(*) filter (where book_id = any ($1)), ledger_now()
    from %I
  $sql$, v_table) using v_unverified, p_day;
end $$;

-- Takes a day away in one transaction: for the version before 0024. It needs an ACCESS EXCLUSIVE
-- lock on entries; workers detach concurrently, which needs none.
create or replace function ledger_entries_detach(p_partition regclass)
returns void language plpgsql set lock_timeout = '100ms' as $$
declare
  v_day date := to_date(right(p_partition::text, 8), 'YYYYMMDD');
begin
  if not exists (select from days where day = v_day) then
    perform ledger_day_checkpoint(v_day);
  end if;
  execute format('alter table entries detach partition %s', p_partition);
  update days set state = 'detached', detached_at = ledger_now() where day = v_day;
end $$;

do $$
declare
  v_today date := (ledger_now() at time zone 'UTC')::date;
  v_made date[] := '{}';
  v_day date;
  v_table text;
begin
  -- Days that an older version detached; only their tables are known.
  insert into days (day, state)
  select to_date(right(relname, 8), 'YYYYMMDD'), 'detached' from pg_class
  where relnamespace = (select relnamespace from pg_class where oid = 'entries'::regclass)
    and relname ~ '^entries_[0-9]{8}$' and relkind = 'r' and not relispartition;

  -- Tables of the missing days, and of days in the default partition. Nothing is locked yet.
  for v_day in
    select v_today + i from generate_series(-1, 60) as i
    union select distinct day from entries_default
  loop
    v_table := 'entries_' || to_char(v_day, 'YYYYMMDD');
    if to_regclass(v_table) is null then
      execute format('create table %I (like entries including all)', v_table);
      v_made := v_made || v_day;
    end if;
  end loop;

  for attempt in 1..50 loop
    begin
      perform set_config('lock_timeout', '100ms', true);
      lock table only entries in access exclusive mode;
      lock table only entries_default in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 50 then
        raise;
      end if;
      perform pg_sleep(0.4);
    end;
  end loop;
  alter table entries detach partition entries_default;
  for v_day in select distinct day from entries_default loop
    v_table := 'entries_' || to_char(v_day, 'YYYYMMDD');
    if to_regclass(v_table) is null then
      execute format('create table %I (like entries including all)', v_table);
      v_made := v_made || v_day;
    end if;
    -- A day that was detached before its last rows came cannot take them; the audit reads these.
    execute format('insert into %I select * from entries_default where day = $1',
      case when v_day = any (v_made) then v_table else 'entries_unverified' end) using v_day;
  end loop;
  foreach v_day in array v_made loop
    execute format('alter table entries attach partition %I for values from (%L) to (%L)',
      'entries_' || to_char(v_day, 'YYYYMMDD'), v_day, v_day + 1);
  end loop;
  -- The limit of `migrate` again, for later migrations in the same transaction.
  perform set_config('lock_timeout', '10s', true);
end $$;

-- contract: only ledger_partitions_make, replaced above, named it; its rows are in their days.
drop table entries_default;
