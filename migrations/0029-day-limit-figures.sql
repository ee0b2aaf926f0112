-- A refusal for the daily limit also stores what the request needed and what was left.
--
-- Why: the e-mail and the banner said that the limit was nearly spent, also when a single request
-- could cost more than a limit of which nothing was spent yet.
--
-- Safe while an older version runs: it neither reads nor writes the two columns, and calls the same
-- function with the same arguments. Adding columns without a value rewrites no row. If somebody
-- reads `books` for a long time, this gives up after 30 s; requests wait at most 1.5 s for it.

do $$
begin
  for attempt in 1..50 loop
    begin
      -- PostgreSQL cancels an autovacuum for us after deadlock_timeout, 1 s by default.
      perform set_config('lock_timeout',
        case when attempt % 10 = 0 then '1500ms' else '100ms' end, true);
      lock table books in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 50 then
        raise;
      end if;
      perform pg_sleep(0.4);
    end;
  end loop;
end $$;

alter table books
  add column day_limit_needed int8,
  add column day_limit_left int8;

-- Holds for one request. It reads the columns that it needs instead of a whole row, and checks the
-- isolation in place: `perform` is a statement of its own. A refusal for the day's limit or for
-- want of credits leaves a mark on the book, once a day or once per change of the book, so that
-- guards can write to the owner without reading the hot tables. The day's mark has the figures of
-- the day's first refusal: what the request needed, and what was left.
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
