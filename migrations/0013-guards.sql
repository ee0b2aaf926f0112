-- Guards: what stops spending before it hurts, and when its owner is told by letter.
--
-- Why: limits are kept by the hold, which knows exactly when it says no; who writes the letter must
-- learn of it without reading the hot tables. So a hold that is refused for the day's limit or for
-- want of credits leaves a mark on its book: once a day, or once per change of the book, and never
-- on the way of a hold that is granted.
--
-- Safe while an older version runs: it adds columns and a table that nothing else names, and the
-- hold answers as before. The index locks books against writing for as long as reading it once
-- takes: below a second for a million books.

alter table books
  -- The last day on which the limit of the day refused a request.
  add column day_limit_met date,
  -- The number of the last entry when a request was refused for want of credits.
  add column short_seq int8;

-- Stopped books are found within seconds. A settle writes blocked_reason but changes it only when
-- it stops a book, and PostgreSQL compares values: updates stay on their page (HOT).
create index books_stopped on books (id) where blocked_reason = 'velocity_stopped';

-- As in 0002-ledger-hold.sql, with the two marks of a refusal at its end.
create or replace function ledger_hold(
  p_wait boolean, p_instance int8, p_seconds int4,
  p_day int4, p_id uuid, p_book int8, p_tariff int4, p_fence int8, p_worst int8, p_floor int8,
  out outcome text, out granted int8, out available int8
) language plpgsql as $$
declare
  b books;
  v_now timestamptz;
  v_today date;
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
  v_today := (v_now at time zone 'UTC')::date;
  v_headroom := ledger_headroom(b.available, b.day_limit,
    case when b.day = v_today then b.day_spent else 0 end, b.held);
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
    if outcome = 'day_limit' and b.day_limit_met is distinct from v_today then
      update books set day_limit_met = v_today where books.id = p_book;
    elsif outcome = 'credits' and b.short_seq is distinct from b.seq then
      update books set short_seq = b.seq where books.id = p_book;
    end if;
  end if;
end $$;

-- One row per book: when its owner wants a letter, and what was told already. Limits themselves are
-- on the book, since the hold keeps them.
create table guards (
  book_id int8 primary key references books (id),
  low_credits int8 constraint guards_low_credits_are_some check (low_credits > 0),
  low_days int4 default 3 constraint guards_low_days_are_few check (low_days between 1 and 90),
  -- Told, and armed again only when it is well over: once per crossing.
  is_low_told boolean not null default false,
  is_empty_told boolean not null default false,
  day_told date,
  -- The end of the window in which the stop happened names the stop.
  stop_told timestamptz,
  -- The pace is what was spent since the older of two marks, which are half a week apart.
  pace_at timestamptz not null default ledger_now(),
  pace_spent int8 not null default 0,
  mark_at timestamptz not null default ledger_now(),
  mark_spent int8 not null default 0
) with (fillfactor = 80);

insert into guards (book_id, pace_spent, mark_spent) select id, spent_total, spent_total from books;
