-- The rules of books, holds and entries as functions, and hold and settle in fewer steps.
--
-- Why: PostgreSQL reads the text of every check anew for each statement that writes a row. Fifteen
-- checks on three tables were a quarter of what a settle cost the database; a function is read once
-- by a connection. Hold and settle asked for whole rows and called other functions on their way,
-- each a statement of its own. Together 0.13 ms less of 1.3 for the two calls of a lone request.
--
-- What else was tried: the same rules in fewer and shorter checks (half the gain), one statement
-- with updating CTEs instead of four (no gain where nothing is warm), no checks at all (0.05 ms
-- more). A rule that is broken is reported under the name it had as a check of its own.
--
-- Safe while an older version runs: its statements meet the same rules under the same names. Each
-- table is locked for a moment, until the transaction ends. `not valid` spares reading holds and
-- entries from end to end under that lock: their rows were written under the same rules.

create function books_keep_rules(
  available int8, held int8, debt int8, day_limit int8, velocity_limit int8, velocity_seconds int4
) returns boolean language plpgsql immutable as $$
declare
  v_broken text := case
    when available < 0 then 'books_available_is_never_negative'
    when held < 0 then 'books_held_is_never_negative'
    when debt < 0 then 'books_debt_is_never_negative'
    when debt <> 0 and available <> 0 then 'books_debt_leaves_nothing_available'
    when day_limit < 0 then 'books_day_limit_is_not_negative'
    when velocity_limit < 0 then 'books_velocity_limit_is_not_negative'
    when velocity_seconds <= 0 then 'books_velocity_window_is_positive'
  end;
begin
  if v_broken is not null then
    raise check_violation using message = 'a book breaks ' || v_broken, constraint = v_broken;
  end if;
  return true;
end $$;

create function holds_keep_rules(
  worst int8, floor int8, granted int8, state hold_state, ending ending, entry_seq int8,
  charged int8, closed_at timestamptz
) returns boolean language plpgsql immutable as $$
declare
  v_broken text := case
    when granted < 0 or granted > worst or floor < 0 or floor > worst
      then 'holds_grant_no_more_than_the_worst_case'
    when charged < 0 or charged > granted then 'holds_charge_no_more_than_they_hold'
    when state = 'settled' and (charged is null or entry_seq is null)
      then 'holds_settle_with_an_entry'
    when (state = 'open') <> (ending is null) or (state = 'open') <> (closed_at is null)
      then 'holds_close_with_an_ending'
  end;
begin
  if v_broken is not null then
    raise check_violation using message = 'a hold breaks ' || v_broken, constraint = v_broken;
  end if;
  return true;
end $$;

create function entries_keep_rules(
  kind entry_kind, amount int8, priced int8, written_off int8, hold_id uuid, ending ending, ref text
) returns boolean language plpgsql immutable as $$
declare
  v_broken text := case
    when kind = 'charge' and (priced <> written_off - amount or amount > 0 or written_off < 0)
      then 'entries_charge_what_was_priced_less_what_was_written_off'
    when kind in ('charge', 'void') and (hold_id is null or ending is null)
      then 'entries_of_requests_name_their_hold'
    when kind = 'void' and amount <> 0 then 'entries_of_voids_are_free'
    when kind not in ('charge', 'void') and ref is null
      then 'entries_of_rare_kinds_name_their_posting'
  end;
begin
  if v_broken is not null then
    raise check_violation using message = 'an entry breaks ' || v_broken, constraint = v_broken;
  end if;
  return true;
end $$;

alter table books
  drop constraint books_available_is_never_negative,
  drop constraint books_held_is_never_negative,
  drop constraint books_debt_is_never_negative,
  drop constraint books_debt_leaves_nothing_available,
  drop constraint books_day_limit_is_not_negative,
  drop constraint books_velocity_limit_is_not_negative,
  drop constraint books_velocity_window_is_positive,
  add constraint books_keep_their_rules check (books_keep_rules(
    available, held, debt, day_limit, velocity_limit, velocity_seconds)) not valid;
alter table holds
  drop constraint holds_grant_no_more_than_the_worst_case,
  drop constraint holds_charge_no_more_than_they_hold,
  drop constraint holds_settle_with_an_entry,
  drop constraint holds_close_with_an_ending,
  add constraint holds_keep_their_rules check (holds_keep_rules(
    worst, floor, granted, state, ending, entry_seq, charged, closed_at)) not valid;
alter table entries
  drop constraint entries_charge_what_was_priced_less_what_was_written_off,
  drop constraint entries_of_requests_name_their_hold,
  drop constraint entries_of_voids_are_free,
  drop constraint entries_of_rare_kinds_name_their_posting,
  add constraint entries_keep_their_rules check (entries_keep_rules(
    kind, amount, priced, written_off, hold_id, ending, ref)) not valid;

-- As in 0013-guards.sql, with the columns it needs instead of a whole row. The isolation is looked
-- at in place, since `perform` is a statement of its own.
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
  v_today := (v_now at time zone 'UTC')::date;
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

-- As in 0003-ledger-settle.sql, with the columns it needs, and changing the book itself.
-- ledger_book_charge, which did that, stays: a settle that waits for the locks of this migration
-- goes on with its older text afterwards, and calls it.
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
  v_today date;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform ledger_assert_read_committed();
  end if;
  if p_wait then
    select b.seq, b.available, b.available + b.held - b.debt into v_seq, v_available, v_balance
    from books b where b.id = p_book for no key update;
  else
    select b.seq, b.available, b.available + b.held - b.debt into v_seq, v_available, v_balance
    from books b where b.id = p_book for no key update skip locked;
  end if;
  if not found then
    outcome := ledger_missing(p_book);
    return;
  end if;
  v_now := ledger_now();
  v_today := (v_now at time zone 'UTC')::date;
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
      -- The day keeps the look-up to one partition.
      select * into e from entries where book_id = p_book and seq = h.entry_seq
        and day = (h.closed_at at time zone 'UTC')::date and hold_id = p_id;
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
